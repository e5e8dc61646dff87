# python/pardo/_saving/__init__.py: the package; nothing is exported here.
"""Programs that leave the process: functions of arrays as machine code in a file, and what runs it again."""
