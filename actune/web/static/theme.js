// Sets the chosen colour scheme before the first paint; without a choice the system's holds.
try {
  const chosen = localStorage.getItem("actune/theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch { /* a browser that stores nothing has the system's scheme */ }
