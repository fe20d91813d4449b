/** One recording plays at a time: starting another pauses it. */
class VoicePlayback {
  #playing: HTMLAudioElement | null = null;

  play(audio: HTMLAudioElement): void {
    if (this.#playing !== audio) this.#playing?.pause();
    this.#playing = audio;
    // The browser may refuse, or the file be gone: the button stays as it is.
    void audio.play().catch(() => undefined);
  }
}

export const voicePlayback = new VoicePlayback();
