"""Lua scripts on the lists of post ids in Redis.

A list holds post ids, the latest pushed first, and as its last element a *footer*: `=,12,34,` in a list that is ready,
with the celebrities whose own lists are to be merged with it; `?token:,12,` in one that is still being built, with the
authors who became celebrities meanwhile. One key holds everything, so it exists as a whole or not at all.
"""

from tintype.redis.scripts import Script

MAX_LENGTH = 800
TRIM_AT = 1000
"""Trimming lazily, every 200 pushes, keeps most pushes at a single command."""


PUSH = Script.of(f"""
local pushed = 0
for _, key in ipairs(KEYS) do
  local length = redis.call('LPUSHX', key, ARGV[1])
  if length > 0 then pushed = pushed + 1 end
  if length > {TRIM_AT} then
    local footer = redis.call('LINDEX', key, -1)
    redis.call('LTRIM', key, 0, {MAX_LENGTH - 1})
    redis.call('RPUSH', key, footer)
  end
end
return pushed
""")
"""Push a post onto those of the lists that exist; returns how many did."""

BEGIN_BUILD = Script.of("""
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1] .. ',')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
""")
"""Create an absent list, so that it takes pushes; returns whether the caller is the one who fills it."""

FILL = Script.of("""
local footer = redis.call('LINDEX', KEYS[1], -1)
if not footer or string.sub(footer, 1, #ARGV[1]) ~= ARGV[1] then return 0 end
redis.call('RPOP', KEYS[1])
if #ARGV > 3 then redis.call('RPUSH', KEYS[1], unpack(ARGV, 4)) end
redis.call('RPUSH', KEYS[1], '=' .. string.sub(footer, #ARGV[1] + 1) .. ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
""")
"""Put what was built below what was pushed meanwhile, but only into the list that has the caller's token."""

ABANDON_BUILD = Script.of("""
local footer = redis.call('LINDEX', KEYS[1], -1)
if footer and string.sub(footer, 1, #ARGV[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
""")
"""Delete the list that has the caller's token, so that others need not wait for it to be filled."""

EXTEND = Script.of("""
local footer = redis.call('LINDEX', KEYS[1], -1)
if footer and string.sub(footer, 1, 1) == '=' then return redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return 0
""")
"""Extend the lifetime of a list that is ready; one that is being built must expire by itself if nobody fills it."""

MARK = Script.of("""
local marked = 0
for _, key in ipairs(KEYS) do
  local footer = redis.call('LINDEX', key, -1)
  if footer then
    marked = marked + 1
    if not string.find(footer, ',' .. ARGV[1] .. ',', 1, true) then
      redis.call('LSET', key, -1, footer .. ARGV[1] .. ',')
    end
  end
end
return marked
""")
"""Add a celebrity to the footers of those of the lists that exist; returns how many did."""

DELETE_MARKED = Script.of("""
local footer = redis.call('LINDEX', KEYS[1], -1)
if footer and string.find(footer, ',' .. ARGV[1] .. ',', 1, true) then return redis.call('DEL', KEYS[1]) end
return 0
""")
"""Delete a list if its footer names this celebrity."""
