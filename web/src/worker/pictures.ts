/** Pictures that were seen. All of them are dropped when the account signs out, stories' when they end (src/offline/kit). */
import { PICTURES, pictureKey } from "../base/pictures";
import { type Drawer, openDrawer } from "../base/store";
import { type Kept, surplus } from "./surplus";

const MOST = { count: 600, bytes: 80 * 1024 * 1024 };
/** Counting reads the whole list: once in a while is enough. */
const SWEEP_EVERY = 20;

const kept: Drawer<Kept> = openDrawer<Kept>("pictures");
let puts = 0;

export function isPicture(request: Request, url: URL): boolean {
  return request.destination === "image" && url.pathname.startsWith("/media/");
}

export async function showPicture(
  request: Request,
  afterwards: (work: Promise<unknown>) => void,
): Promise<Response> {
  const key = pictureKey(request.url);
  const pictures = await caches.open(PICTURES);
  const known = await pictures.match(key, { ignoreVary: true });
  if (known !== undefined) {
    afterwards(kept.change(key, (picture) => ({ ...picture, seen_ms: Date.now() })));
    return known;
  }
  const answer = await fetch(request);
  if (answer.status === 200) afterwards(keep(key, answer.clone()));
  return answer;
}

async function keep(key: string, answer: Response): Promise<void> {
  const body = await answer.blob();
  const pictures = await caches.open(PICTURES);
  await pictures.put(key, new Response(body, { headers: { "Content-Type": body.type } }));
  await kept.put({ key, bytes: body.size, seen_ms: Date.now() });
  puts += 1;
  if (puts % SWEEP_EVERY === 0) await sweep();
}

async function sweep(): Promise<void> {
  const pictures = await caches.open(PICTURES);
  const isThere = new Set((await pictures.keys()).map(({ url }) => new URL(url).pathname));
  const all = await kept.all();
  // What the app took away is only forgotten here.
  const gone = all.filter(({ key }) => !isThere.has(key)).map(({ key }) => key);
  const unwanted = surplus(
    all.filter(({ key }) => isThere.has(key)),
    MOST,
  );
  await Promise.all(unwanted.map((key) => pictures.delete(key)));
  await kept.remove(...gone, ...unwanted);
}
