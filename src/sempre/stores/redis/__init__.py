"""The Redis store: every operation of the port is one Lua script on one Redis or Valkey server.

store.py         the operations of the port; looking.py those that only people need
notifying.py     PUBLISH, by which idle workers are woken
server.py        connections, scripts by their SHA, and what errors mean
probe.py         which servers must not be used, and what is promised less on others
arguments.py     plans, births, work and settlements as arguments of a script
encoding.py      schedules and executions as fields of a hash; records.py everything smaller
scripts/         one script for each operation; scripts/parts what they share

All keys begin with `{prefix}:`, so that a cluster keeps a store in one slot. Give the address of
the node that has it: the store does not follow a slot, and is unavailable where it is not.

meta                         version, uuid, the last fence, the number of ranges
schedule:ID  execution:ID    hashes; put and put_schedule in parts/rows.lua are their only door
names  listed  schedules     the id of a name; names and ids in order, without deleted ones
lanes:KIND  lane:KIND:LANE   what waits, by due_at: KIND is slots (of schedules) or single
unrung  held:SWITCH          live rows that were not announced to the broker; rows held by a switch
running:SESSION  holders     what runs, and the sessions that run something
active:ID  finished:ID       live and running rows of a schedule; those with a finished_at
slots:KIND:ID                the rows that occupy slots: scheduled, and active backfill
audit                        schedules that may be wrong, by the stamp of their next row
history  history-of-schedule:ID  history-of-job:JOB  ended      rows by run_at, and by end
attempts:ID  ranges:ID  ranges  rollups:ID  unique  cancellations  reports
sessions  leases  switches  switch:NAME  pass

An index is a sorted set of score 0 whose members are an instant and an id, so that no double ever
stands for an instant.
"""

from sempre.stores.redis.store import RedisStore

__all__ = ["RedisStore"]
