# python/pardo/_gl: memory of OpenGL as arrays and images; pardo/gl.py makes it public.
