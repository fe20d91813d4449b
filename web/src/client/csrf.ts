/** The CSRF token: the session cookie is HttpOnly, and beside it the server sets a readable cookie whose value every write repeats. */

const COOKIE = "tt_csrf";

export function csrfToken(cookies: string = document.cookie): string | null {
  for (const pair of cookies.split("; ")) {
    const [name, ...value] = pair.split("=");
    if (name === COOKIE) return decodeURIComponent(value.join("="));
  }
  return null;
}

export function csrfHeaders(): Record<string, string> {
  const token = csrfToken();
  return token === null ? {} : { "X-CSRF-Token": token };
}
