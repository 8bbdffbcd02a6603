"""`cgmh serve`: the tasks over HTTP, in LanguageTool's protocol and in one of our own.

`app.py` builds the application from an `Engine` (protocols.py) and `ServerSettings` (configuration.py); `server.py`
runs it.
"""
