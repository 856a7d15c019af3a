"""Requests made up from the interface's own description: none breaks the server, and answers are as promised."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.web.serving import serve

EXAMPLES = 15  # of each operation
PATHS = {
    "/api/v1/audit/release": "post",
    "/api/v1/answers": "post",
    "/api/v1/classes": "post",
    "/api/v1/classes/changes": "post",
    "/api/v1/classes/preview": "post",
    "/api/v1/classes/undo": "post",
    "/api/v1/export": "get",
    "/api/v1/finish": "post",
    "/api/v1/history": "get",
    "/api/v1/map": "get",
    "/api/v1/models": "get",
    "/api/v1/models/{name}": "get",
    "/api/v1/near-duplicates": "post",
    "/api/v1/progress": "get",
    "/api/v1/questions": "get",
    "/api/v1/queue": "post",
    "/api/v1/remarks": "post",
    "/api/v1/review/adjudication": "get",
    "/api/v1/review/disagreements": "get post",
    "/api/v1/review/near-duplicates": "get",
    "/api/v1/review/pseudo-labels": "get post",
    "/api/v1/state": "get",
    "/api/v1/texts/{id}": "get",
    "/api/v1/texts/{id}/why": "get",
    "/api/v1/train": "post",
}


@pytest.fixture(scope="module")
def target(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("openapi") / "project"
    server = serve(texts, "--labels", "a,b", "--port", "0", "--no-training", "--out", str(folder))
    yield server
    server.kill()


@pytest.mark.parametrize("path", PATHS)
def test_no_request_breaks_the_server(target, path):
    headers = {"Authorization": f"Bearer {target.token}"}
    schema = schemathesis.openapi.from_url(f"{target.url}/api/v1/openapi.json", headers=headers)
    for method in PATHS[path].split():
        operation = schema[path][method.upper()]

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def check(case):
            found = case.call(headers=headers)
            assert found.status_code < 500, found.text
            if found.status_code >= 400:
                assert set(found.json()) == {"error", "code"}
            elif "json" in found.headers.get("content-type", ""):
                case.operation.validate_response(found)

        check()


def test_the_description_is_whole(target):
    with target.program() as client:
        found = client.get("/openapi.json").json()
    assert {path: " ".join(sorted(operations)) for path, operations in found["paths"].items()} == PATHS
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"] and operation["description"], (method, path)
