/** Cache Storage in memory. */

class FakeCache {
  readonly entries = new Map<string, Response>();
  match = async (key: string) => this.entries.get(key)?.clone();
  put = async (key: string, response: Response) => void this.entries.set(key, response);
  delete = async (key: string) => this.entries.delete(key);
  keys = async () => [...this.entries.keys()].map((path) => new Request(new URL(path, "http://site.test")));
}

export class FakeCaches {
  readonly stores = new Map<string, FakeCache>();
  open = async (name: string) => {
    const found = this.stores.get(name) ?? new FakeCache();
    this.stores.set(name, found);
    return found;
  };
  keys = async () => [...this.stores.keys()];
  delete = async (name: string) => this.stores.delete(name);
}
