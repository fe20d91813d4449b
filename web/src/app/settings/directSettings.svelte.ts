/** Who may write to the viewer, and what notifications of messages show. */
import { Resource } from "../../base/resource.svelte";
import { type DirectSettings, direct } from "../../client/direct";
import { attempt } from "../../ui/attempt";

export class DirectSettingsEditor extends Resource<DirectSettings> {
  constructor() {
    super(direct.getSettings);
  }

  /** Shown at once; rolled back where the server refuses. */
  async set(change: Partial<DirectSettings>): Promise<void> {
    const before = this.value;
    if (before === null) return;
    const settings = { ...before, ...change };
    this.value = settings;
    const rollBack = () => {
      this.value = before;
    };
    await attempt(() => direct.setSettings(settings), { rollBack });
  }
}
