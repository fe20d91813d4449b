/** The notification settings, updated optimistically: rolled back when the server refuses. */
import { Resource } from "../../base/resource.svelte";
import {
  clearQuietHours,
  getNotificationSettings,
  type KindSetting,
  type NotificationSettings,
  type QuietHours,
  setQuietHours,
  updateKindSetting,
} from "../../client/notificationSettings";
import { attempt } from "../../ui/attempt";

export class NotificationSettingsEditor extends Resource<NotificationSettings> {
  constructor() {
    super(getNotificationSettings);
  }

  setKind(setting: KindSetting): void {
    if (this.value === null) return;
    const kinds = this.value.kinds.map((each) => (each.kind === setting.kind ? setting : each));
    void this.#update({ ...this.value, kinds }, () => updateKindSetting(setting));
  }

  setQuietHours(hours: QuietHours | null): void {
    if (this.value === null) return;
    void this.#update({ ...this.value, quiet_hours: hours }, () =>
      hours ? setQuietHours(hours) : clearQuietHours(),
    );
  }

  async #update(settings: NotificationSettings, send: () => Promise<unknown>): Promise<void> {
    const before = this.value;
    this.value = settings;
    const rollBack = () => {
      this.value = before;
    };
    await attempt(send, { rollBack });
  }
}
