"""A CompileCase as Triton wants it: types, values, hints, options."""

import re

from kernelfleet_runner import triton_api

# Triton's element types in signatures (`type_canonicalisation_dict` and the
# front end's own table), and its descriptors.
ELEMENTS = ("i1 i8 i16 i32 i64 u1 u8 u16 u32 u64 fp16 bf16 fp32 fp64 fp8e4nv "
            "fp8e5 fp8e4b8 fp8e5b16 fp8e4b15").split()
TYPE = re.compile(r"\**(k?(%s)|nvTmaDesc)$|tensordesc<.*>$" %
                  "|".join(ELEMENTS))


class CaseError(Exception):
    """The case does not fit the kernel; the message says where."""


class Case:
    """signature, constants and hints by parameter name; options by name."""

    def __init__(self, signature, constants, hints, options):
        self.signature = signature
        self.constants = constants
        self.hints = hints
        self.options = options


def read_case(message, kernel, module, known_options):
    names = list(kernel.arg_names)
    args = {}
    for arg in message.get("args", []):
        name = arg.get("name", "")
        if name not in names:
            raise CaseError("the kernel has no parameter '%s'; it has %s" %
                            (name, ", ".join(names)))
        args[name] = arg
    signature, constants, hints = {}, {}, {}
    for param in kernel.params:
        arg = args.get(param.name)
        if arg is None:
            constants[param.name] = _default(param)
        elif "constant" in arg or param.is_constexpr:
            constants[param.name] = constant(arg.get("constant", {}), module)
        else:
            signature[param.name] = read_type(arg.get("type", ""), param.name)
            hints[param.name] = _hints(arg)
    return Case(signature, constants, hints,
                read_options(message.get("options", {}), module,
                             known_options))


def _default(param):
    if param.has_default:
        return param.default
    raise CaseError("parameter '%s' has neither a type nor a value" %
                    param.name)


def _hints(arg):
    hints = {"tt.divisibility": int(arg.get("divisibility", 0)),
             "tt.pointer_range": int(arg.get("pointer_range", 0))}
    return {name: value for name, value in hints.items() if value}


def read_type(text, name):
    """Triton's spelling; a tuple of types is written (i32,*fp16)."""
    text = text.strip()
    if not text:
        raise CaseError("parameter '%s' has no type" % name)
    if text.startswith("(") and text.endswith(")"):
        return tuple(read_type(item, name) for item in _split(text[1:-1]))
    if not TYPE.match(text):
        raise CaseError("parameter '%s': Triton has no type '%s'" %
                        (name, text[:80]))
    return text


def _split(text):
    items, depth, begin = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "([<") - (char in ")]>")
        if char == "," and depth == 0:
            items.append(text[begin:i])
            begin = i + 1
    items.append(text[begin:])
    return [item for item in items if item.strip()]


def constant(message, module):
    """The Python value of a proto Constant in JSON."""
    if not message:
        raise CaseError("a constant without a value")
    kind, value = next(iter(message.items()))
    if kind == "int_value":
        return int(value)
    if kind == "float_value":
        return float(value)
    if kind in ("bool_value", "string_value"):
        return value
    if kind == "dtype_value":
        return triton_api.element_type(value)
    if kind == "none":
        return None
    if kind == "tuple":
        return tuple(constant(item, module) for item in value.get("items", []))
    if kind == "function_value":
        return _function(value, module)
    raise CaseError("'%s' is no kind of constant" % kind)


def _function(name, module):
    value = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is None:
        raise CaseError("the module defines no function '%s'" % name)
    return value


def read_options(message, module, known):
    """Compile options by name. Compiling ignores an unknown one, launching
    refuses it: so does this."""
    options = {name: int(message[name])
               for name in ("num_warps", "num_stages", "num_ctas")
               if int(message.get(name, 0))}
    for name, value in message.get("extra", {}).items():
        if name not in known:
            raise CaseError("this backend has no option '%s'" % name)
        options[name] = constant(value, module)
    return options
