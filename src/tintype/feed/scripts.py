"""What is done to lists inside Redis, where nothing can come between two steps.

A list holds post ids, the latest pushed first, and at its very end a *note*: `=,12,34,` in a list that is ready, with
the stars whose own lists are to be read beside it; `?token:,12,` in one that is still being built, with the stars that
rose meanwhile. One key holds everything, so it is there as a whole or not at all.
"""

from tintype.base.scripts import Script

LONGEST = 800
TRIM_AT = 1000
"""Trimming lazily, every 200 pushes, keeps most pushes at a single command."""


PUSH = Script.of(f"""
local pushed = 0
for _, key in ipairs(KEYS) do
  local length = redis.call('LPUSHX', key, ARGV[1])
  if length > 0 then pushed = pushed + 1 end
  if length > {TRIM_AT} then
    local note = redis.call('LINDEX', key, -1)
    redis.call('LTRIM', key, 0, {LONGEST - 1})
    redis.call('RPUSH', key, note)
  end
end
return pushed
""")
"""A post goes on top of those lists that exist; returns how many did."""

OPEN = Script.of("""
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1] .. ',')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
""")
"""An absent list exists from now on and takes what is pushed; returns whether we are the one who fills it."""

FILL = Script.of("""
local note = redis.call('LINDEX', KEYS[1], -1)
if not note or string.sub(note, 1, #ARGV[1]) ~= ARGV[1] then return 0 end
redis.call('RPOP', KEYS[1])
if #ARGV > 3 then redis.call('RPUSH', KEYS[1], unpack(ARGV, 4)) end
redis.call('RPUSH', KEYS[1], '=' .. string.sub(note, #ARGV[1] + 1) .. ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
""")
"""What was found goes below what has arrived meanwhile, but only into the list that we opened ourselves."""

GIVE_UP = Script.of("""
local note = redis.call('LINDEX', KEYS[1], -1)
if note and string.sub(note, 1, #ARGV[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
""")
"""The list that we opened is absent again, so that others need not wait for us."""

RENEW = Script.of("""
local note = redis.call('LINDEX', KEYS[1], -1)
if note and string.sub(note, 1, 1) == '=' then return redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return 0
""")
"""A list that is ready lives on; one that is being built has to go by itself should nobody fill it."""

MARK = Script.of("""
local marked = 0
for _, key in ipairs(KEYS) do
  local note = redis.call('LINDEX', key, -1)
  if note then
    marked = marked + 1
    if not string.find(note, ',' .. ARGV[1] .. ',', 1, true) then
      redis.call('LSET', key, -1, note .. ARGV[1] .. ',')
    end
  end
end
return marked
""")
"""Those of the lists that exist know of a star."""

DROP_MARKED = Script.of("""
local note = redis.call('LINDEX', KEYS[1], -1)
if note and string.find(note, ',' .. ARGV[1] .. ',', 1, true) then return redis.call('DEL', KEYS[1]) end
return 0
""")
"""A list that knows of a star is gone."""
