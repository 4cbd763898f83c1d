"""From an exception and a compiler's flood to one finding."""

import errno
import os
import re

from kernelfleet_runner import module_loader, triton_api

MAX_MESSAGE = 1000
MAX_LINE = 400

# Failures known by their words: (pattern, outcome, name). The outcome "" keeps
# what the stage says. Sources: measured on Triton 3.2-3.9, and public reports
# named beside the row.
KNOWN = [
    (r"Value '(sm_\w+)' is not defined for option 'gpu-name'",
     "unsupported_target", "ptxas_too_old"),
    (r"unsupported target: '(\w+)'", "unsupported_target", "unknown_arch"),
    (r"compatible backends for target", "unsupported_target", "no_backend"),
    # FlagTree 820: the wrong clang for the backend, not the kernel's fault.
    (r"HSACOError|Unknown command line argument '-", "unsupported_target",
     "wrong_clang"),
    (r"ROCm linker .* not found|ld\.lld.* not found", "unsupported_target",
     "no_linker"),
    # triton 10666 and 10701, FlagTree 667: a lowering bug, often cured by a
    # newer Triton or with buffer ops off.
    (r"LLVM Translation failed for operation: "
     r"builtin\.unrealized_conversion_cast", "", "leftover_cast"),
    # triton 7011: an atomic type that the target has no instruction for.
    (r"Cannot select.*BUFFER_ATOMIC", "", "unsupported_atomic"),
    (r"Cannot select", "", "no_instruction"),
]

# (pattern with `required` and `limit`, resource). Numbers may be hexadecimal.
RESOURCES = [
    (r"out of resource: (?P<name>[\w ]+), Required: (?P<required>\d+), "
     r"Hardware limit: (?P<limit>\d+)", None),
    (r"local memory \((?P<required>\d+)\) exceeds limit \((?P<limit>\d+)\)",
     "shared memory"),
    (r"too much shared data \((?P<required>0x[0-9a-f]+) bytes, "
     r"(?P<limit>0x[0-9a-f]+) max", "shared memory"),
]


class Finding(Exception):
    """An outcome and its Failure message, ready for the result."""

    def __init__(self, outcome, **failure):
        super().__init__(failure.get("message", ""))
        self.outcome = outcome
        self.failure = failure


def overrun(resource, required, limit, stage):
    return Finding(
        "out_of_resources", stage=stage, error_class="OutOfResources",
        message="%s: %d required, %d is the target's limit" %
        (resource, required, limit),
        resource=resource, required=required, limit=limit)


def over_limit(error):
    """The finding if the attempt ran into one of its own limits, or None."""
    if isinstance(error, MemoryError):
        message = "the attempt's memory limit is used up"
    elif isinstance(error, OSError) and error.errno == errno.EFBIG:
        message = "a file grew to the attempt's limit"
    else:
        return None
    return Finding("limit_exceeded", stage="import",
                   error_class=type(error).__name__, message=message)


def from_load_error(error, source):
    cause = error.__cause__ or error.__context__
    if isinstance(cause, BaseException) and over_limit(cause):
        return over_limit(cause)
    failure = {"stage": error.stage, "error_class": error.error_class,
               "message": _cap(str(error))}
    if error.line and source is not None:
        failure["line"] = source.user_line(error.line)
        failure["column"] = error.column
        failure["source_line"] = source.line_text(error.line)[:MAX_LINE]
    return Finding("compile_error", **failure)


def from_exception(error, stage, log, source, module):
    """The finding for whatever triton.compile raised.

    log: what the compilers printed to stderr meanwhile.
    """
    limit = over_limit(error)
    if limit:
        limit.failure["stage"] = stage
        return limit
    cause = list(_chain(error))[-1]
    text = "%s\n%s" % (cause, log)
    message, line, column = _words(cause, log)
    failure = {"stage": stage, "error_class": type(cause).__name__,
               "message": _cap(message)}
    position = _position(error, module) or (line, column)
    if position[0] and source is not None:
        failure["line"] = source.user_line(position[0])
        failure["column"] = position[1]
        failure["source_line"] = source.line_text(position[0])[:MAX_LINE]
    for pattern, resource in RESOURCES:
        match = re.search(pattern, text)
        if match:
            failure["resource"] = resource or match.group("name")
            failure["required"] = int(match.group("required"), 0)
            failure["limit"] = int(match.group("limit"), 0)
            return Finding("out_of_resources", **failure)
    for pattern, outcome, name in KNOWN:
        if re.search(pattern, text):
            failure["known_as"] = name
            if outcome:  # Not the source's fault, so no place in it.
                failure.pop("line", None)
                failure.pop("column", None)
                failure.pop("source_line", None)
            return Finding(outcome or "compile_error", **failure)
    return Finding("compile_error", **failure)


def _chain(error):
    """The error and its causes, outermost first.

    Around a user's mistake Triton wraps CompilationErrors, each of which says
    where; some versions link them by `from`, some by being raised within.
    """
    while error is not None:
        yield error
        inner = error.__cause__
        if inner is None and hasattr(error, "node"):
            inner = error.__context__
        error = inner


def _words(cause, log):
    """(message, line, column) of the failure's own words."""
    message = getattr(cause, "error_message", None) or str(cause)
    for text in (message, log):
        match = re.search(r"^ptxas.*?(?:error|fatal)\s*:\s*(.*)$", text, re.M)
        if match:
            return "ptxas: " + match.group(1), 0, 0
    # A pass or an assembler raises "failed" and prints its reason.
    match = re.search(r"^(?:(\S*?):(\d+):(\d+): |loc\(.*?\): |\S+: )?error: (.*)$",
                      log, re.M)
    if match and not hasattr(cause, "node"):
        path, line, column, message = match.groups()
        if os.path.basename(path or "") == module_loader.FILE_NAME:
            return message, int(line), int(column)
        return message, 0, 0
    lines = [line for line in message.splitlines() if line.strip()]
    return " ".join(lines[:8]) or type(cause).__name__, 0, 0


def _position(error, module):
    """(line, column) in the module of the innermost frame of the user's."""
    functions = [triton_api.jit_function(value)
                 for value in vars(module).values()] if module else []
    found = None
    for cause in _chain(error):
        node, src = getattr(cause, "node", None), getattr(cause, "src", None)
        if not hasattr(node, "lineno"):
            continue
        for function in functions:
            if function is not None and src == function.src and \
                    function.__module__ == module_loader.MODULE_NAME:
                line, indent = triton_api.first_line(function)
                found = (line + node.lineno - 1, indent + node.col_offset + 1)
    return found


def _cap(text):
    text = text.strip()
    if len(text) <= MAX_MESSAGE:
        return text
    return text[:MAX_MESSAGE] + " [%d more]" % (len(text) - MAX_MESSAGE)
