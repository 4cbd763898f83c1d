"""The user's module, and the kernel in it."""

import linecache
import sys
import traceback
import types

from kernelfleet_runner import triton_api

# Always the same, so that the same kernel gives the same machine code: Triton
# puts module and file names into symbols and line tables.
MODULE_NAME = "kernelfleet_module"
FILE_NAME = "module.py"


class LoadError(Exception):
    """The module does not load; `line` and `column` count in it, from 1."""

    def __init__(self, stage, error_class, message, line=0, column=0):
        super().__init__(message)
        self.stage = stage
        self.error_class = error_class
        self.line = line
        self.column = column


class Source:
    """The module's text, and where its lines stand in the user's file."""

    def __init__(self, text, source_lines):
        self.text = text
        self.lines = text.splitlines()
        self._source_lines = source_lines

    def user_line(self, line):
        if not self._source_lines:
            return line
        if 0 < line <= len(self._source_lines):
            return int(self._source_lines[line - 1])
        return 0

    def line_text(self, line):
        return self.lines[line - 1] if 0 < line <= len(self.lines) else ""


def read_source(request):
    path = request.get("module_file") or FILE_NAME
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError("import", type(error).__name__,
                        "cannot read %s: %s" % (path, error))
    return Source(text, request.get("source_lines", []))


def load_module(source):
    """Runs the module's text. Errors of any kind become LoadError."""
    linecache.cache[FILE_NAME] = (len(source.text), None,
                                  source.text.splitlines(True), FILE_NAME)
    module = types.ModuleType(MODULE_NAME)
    module.__file__ = FILE_NAME
    # Lets inspect trust linecache for a file that need not exist.
    module.__loader__ = _Loader(source.text)
    sys.modules[MODULE_NAME] = module
    try:
        code = compile(source.text, FILE_NAME, "exec")
        exec(code, module.__dict__)
    except SyntaxError as error:
        raise LoadError("import", "SyntaxError", error.msg or "invalid syntax",
                        error.lineno or 0, error.offset or 0)
    except (Exception, SystemExit) as error:
        line = 0
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename == FILE_NAME:
                line = frame.lineno or 0
        raise LoadError("import", type(error).__name__,
                        str(error) or type(error).__name__, line)
    return module


class _Loader:

    def __init__(self, text):
        self._text = text

    def get_source(self, name):
        del name
        return self._text


def find_kernel(module, entry):
    value = getattr(module, entry, None)
    if value is None:
        raise LoadError("import", "AttributeError",
                        "the module defines no '%s'; its kernels are %s" %
                        (entry, _kernel_names(module)))
    kernel = triton_api.jit_function(value)
    if kernel is None:
        raise LoadError("import", "TypeError",
                        "'%s' is no @triton.jit function; the module's "
                        "kernels are %s" % (entry, _kernel_names(module)))
    return kernel


def _kernel_names(module):
    names = [name for name, value in vars(module).items()
             if triton_api.jit_function(value) is not None]
    return ", ".join(sorted(names)) or "none"
