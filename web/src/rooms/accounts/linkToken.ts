/** The secret in the fragment of a mailed link; removed from the address bar at once, so that it is not shared by accident. */
export function takeLinkToken(): string {
  const token = decodeURIComponent(location.hash.slice(1));
  if (token !== "") history.replaceState(history.state, "", location.pathname);
  return token;
}
