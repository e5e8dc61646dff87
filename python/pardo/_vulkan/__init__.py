# python/pardo/_vulkan/__init__.py: the package; nothing is exported here.
"""Memory and semaphores that arrays and queues have in common with Vulkan."""
