-- Voice messages: media of the type `audio`, with their waveform.
ALTER TABLE media ADD COLUMN waveform bytea; -- 64 peaks, 0 to 255; null for photos and videos
