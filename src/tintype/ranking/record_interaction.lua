-- Records one interaction of a viewer: once, however often it is recorded, and undone by a newer one that undoes it.
-- KEYS: the viewer's interactions, affinity and interest; the post; the popular posts. ARGV: see `FeatureWriter.record`.
local SUBJECT, CHANGE, ACT = 8, 8, 21 -- an interaction: subject, change, second, 1 while it holds
local ENTRY = 8 -- what decays: value and second
local subject, change, at, is_on = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4] == '1'
local author, tags, post = ARGV[5], ARGV[6], ARGV[7]
local max_acts, max_authors, max_tags, max_popular = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local viewer_ttl_s, post_ttl_s = ARGV[12], ARGV[13]
local affinity, affinity_half = tonumber(ARGV[14]), tonumber(ARGV[15])
local interest, interest_half = tonumber(ARGV[16]), tonumber(ARGV[17])
local velocity, velocity_half = tonumber(ARGV[18]), tonumber(ARGV[19])

local function is_newer(a, b) -- Lua numbers cannot hold 64 bits: compare halves
  local a_high, a_low = struct.unpack('>I4I4', a)
  local b_high, b_low = struct.unpack('>I4I4', b)
  return a_high > b_high or (a_high == b_high and a_low > b_low)
end

local function find(blob, key, size, from)
  local place = string.find(blob, key, from, true)
  while place and (place - from) % size ~= 0 do place = string.find(blob, key, place + 1, true) end
  return place
end

local function fold(value, since, weight, when, half)
  if when >= since then return math.max(0, value * 2 ^ ((since - when) / half) + weight), when end
  return math.max(0, value + weight * 2 ^ ((when - since) / half)), since
end

local function drop_weakest(blob, key_size, half)
  local size, weakest, least = key_size + ENTRY, 1, math.huge
  for place = 1, #blob, size do
    local value, since = struct.unpack('<fI4', blob, place + key_size)
    local strength = value > 0 and math.log(value) / math.log(2) + since / half or -math.huge
    if strength < least then weakest, least = place, strength end
  end
  return string.sub(blob, 1, weakest - 1) .. string.sub(blob, weakest + size)
end

local function bump(name, key, weight, when, half, max_entries)
  if weight == 0 then return end
  local blob, size = redis.call('GET', name) or '', #key + ENTRY
  local place = find(blob, key, size, 1)
  if place then
    local value, since = struct.unpack('<fI4', blob, place + #key)
    redis.call('SETRANGE', name, place + #key - 1, struct.pack('<fI4', fold(value, since, weight, when, half)))
  elseif weight > 0 then
    if #blob >= max_entries * size then blob = drop_weakest(blob, #key, half) end
    redis.call('SET', name, blob .. key .. struct.pack('<fI4', weight, when))
  end
  redis.call('EXPIRE', name, viewer_ttl_s)
end

-- The value begins with the newest change that was evicted: whatever is not newer has been recorded before.
local acts = redis.call('GET', KEYS[1]) or string.rep('\0', CHANGE)
local place = find(acts, subject, ACT, CHANGE + 1)
local was_on, since = false, at
if place then
  if not is_newer(change, string.sub(acts, place + SUBJECT, place + SUBJECT + CHANGE - 1)) then return 0 end
  since, was_on = struct.unpack('<I4B', acts, place + SUBJECT + CHANGE)
  was_on = was_on == 1
  acts = string.sub(acts, 1, place - 1) .. string.sub(acts, place + ACT)
elseif not is_newer(change, string.sub(acts, 1, CHANGE)) then
  return 0
end
local when = was_on and since or at
acts = acts .. subject .. change .. struct.pack('<I4B', when, is_on and 1 or 0)
if #acts > CHANGE + max_acts * ACT then
  local floor, oldest = string.sub(acts, 1, CHANGE), string.sub(acts, CHANGE + SUBJECT + 1, CHANGE + SUBJECT + CHANGE)
  acts = (is_newer(oldest, floor) and oldest or floor) .. string.sub(acts, CHANGE + ACT + 1)
end
redis.call('SET', KEYS[1], acts, 'EX', viewer_ttl_s)
if is_on == was_on then return 0 end

local sign = is_on and 1 or -1
if author ~= '' then bump(KEYS[2], author, sign * affinity, when, affinity_half, max_authors) end
for first = 1, #tags, 2 do bump(KEYS[3], string.sub(tags, first, first + 1), sign * interest, when, interest_half, max_tags) end
if post ~= '' and velocity > 0 then
  local row = redis.call('GETRANGE', KEYS[4], 0, ENTRY - 1)
  local value, moment = 0, 0
  if #row == ENTRY then value, moment = struct.unpack('<fI4', row) end
  value, moment = fold(value, moment, sign * velocity, when, velocity_half)
  redis.call('SETRANGE', KEYS[4], 0, struct.pack('<fI4', value, moment))
  redis.call('EXPIRE', KEYS[4], post_ttl_s)
  if value > 0 then
    redis.call('ZADD', KEYS[5], math.log(value) / math.log(2) + moment / velocity_half, post)
    local extra = redis.call('ZCARD', KEYS[5]) - max_popular
    if extra > max_popular / 8 then redis.call('ZREMRANGEBYRANK', KEYS[5], 0, extra - 1) end
  else
    redis.call('ZREM', KEYS[5], post)
  end
end
return sign
