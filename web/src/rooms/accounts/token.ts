/** The secret behind the # of a mailed link; taken out of the address at once, so that it is not shared by accident. */
export function takeToken(): string {
  const token = decodeURIComponent(location.hash.slice(1));
  if (token !== "") history.replaceState(history.state, "", location.pathname);
  return token;
}
