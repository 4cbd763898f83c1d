// Kinds and roles of nodes, by the names that tree-sitter-python gives them.
#ifndef KERNELFLEET_COMMON_KERNEL_SYNTAX_KINDS_H_
#define KERNELFLEET_COMMON_KERNEL_SYNTAX_KINDS_H_

#include <cstdint>

namespace kernelfleet::kernel {

// (enumerator, name in the grammar). What is not listed is kOther; punctuation
// without a role and the inside of strings are no nodes at all.
#define KERNELFLEET_SYNTAX_KINDS(X)                       \
  X(kModule, "module")                                    \
  X(kExpressionStatement, "expression_statement")         \
  X(kAssignment, "assignment")                            \
  X(kAugmentedAssignment, "augmented_assignment")         \
  X(kNamedExpression, "named_expression")                 \
  X(kCall, "call")                                        \
  X(kArgumentList, "argument_list")                       \
  X(kKeywordArgument, "keyword_argument")                 \
  X(kListSplat, "list_splat")                             \
  X(kDictionarySplat, "dictionary_splat")                 \
  X(kAttribute, "attribute")                              \
  X(kIdentifier, "identifier")                            \
  X(kSubscript, "subscript")                              \
  X(kSlice, "slice")                                      \
  X(kBinaryOperator, "binary_operator")                   \
  X(kUnaryOperator, "unary_operator")                     \
  X(kBooleanOperator, "boolean_operator")                 \
  X(kNotOperator, "not_operator")                         \
  X(kComparisonOperator, "comparison_operator")           \
  X(kConditionalExpression, "conditional_expression")     \
  X(kParenthesizedExpression, "parenthesized_expression") \
  X(kInteger, "integer")                                  \
  X(kFloat, "float")                                      \
  X(kString, "string")                                    \
  X(kConcatenatedString, "concatenated_string")           \
  X(kTrue, "true")                                        \
  X(kFalse, "false")                                      \
  X(kNone, "none")                                        \
  X(kEllipsis, "ellipsis")                                \
  X(kTuple, "tuple")                                      \
  X(kList, "list")                                        \
  X(kSet, "set")                                          \
  X(kDictionary, "dictionary")                            \
  X(kPair, "pair")                                        \
  X(kExpressionList, "expression_list")                   \
  X(kPatternList, "pattern_list")                         \
  X(kTuplePattern, "tuple_pattern")                       \
  X(kListPattern, "list_pattern")                         \
  X(kListSplatPattern, "list_splat_pattern")              \
  X(kLambda, "lambda")                                    \
  X(kListComprehension, "list_comprehension")             \
  X(kGeneratorExpression, "generator_expression")         \
  X(kSetComprehension, "set_comprehension")               \
  X(kDictionaryComprehension, "dictionary_comprehension") \
  X(kForInClause, "for_in_clause")                        \
  X(kIfClause, "if_clause")                               \
  X(kDecoratedDefinition, "decorated_definition")         \
  X(kDecorator, "decorator")                              \
  X(kFunctionDefinition, "function_definition")           \
  X(kClassDefinition, "class_definition")                 \
  X(kParameters, "parameters")                            \
  X(kLambdaParameters, "lambda_parameters")               \
  X(kDefaultParameter, "default_parameter")               \
  X(kTypedParameter, "typed_parameter")                   \
  X(kTypedDefaultParameter, "typed_default_parameter")    \
  X(kDictionarySplatPattern, "dictionary_splat_pattern")  \
  X(kKeywordSeparator, "keyword_separator")               \
  X(kPositionalSeparator, "positional_separator")         \
  X(kType, "type")                                        \
  X(kBlock, "block")                                      \
  X(kIfStatement, "if_statement")                         \
  X(kElifClause, "elif_clause")                           \
  X(kElseClause, "else_clause")                           \
  X(kForStatement, "for_statement")                       \
  X(kWhileStatement, "while_statement")                   \
  X(kTryStatement, "try_statement")                       \
  X(kExceptClause, "except_clause")                       \
  X(kFinallyClause, "finally_clause")                     \
  X(kWithStatement, "with_statement")                     \
  X(kWithClause, "with_clause")                           \
  X(kWithItem, "with_item")                               \
  X(kMatchStatement, "match_statement")                   \
  X(kCaseClause, "case_clause")                           \
  X(kReturnStatement, "return_statement")                 \
  X(kAssertStatement, "assert_statement")                 \
  X(kRaiseStatement, "raise_statement")                   \
  X(kPassStatement, "pass_statement")                     \
  X(kBreakStatement, "break_statement")                   \
  X(kContinueStatement, "continue_statement")             \
  X(kDeleteStatement, "delete_statement")                 \
  X(kGlobalStatement, "global_statement")                 \
  X(kNonlocalStatement, "nonlocal_statement")             \
  X(kImportStatement, "import_statement")                 \
  X(kImportFromStatement, "import_from_statement")        \
  X(kFutureImportStatement, "future_import_statement")    \
  X(kAliasedImport, "aliased_import")                     \
  X(kDottedName, "dotted_name")                           \
  X(kRelativeImport, "relative_import")                   \
  X(kWildcardImport, "wildcard_import")                   \
  X(kInterpolation, "interpolation")                      \
  X(kAwait, "await")                                      \
  X(kYield, "yield")                                      \
  X(kAsPattern, "as_pattern")                             \
  X(kError, "ERROR")

#define KERNELFLEET_SYNTAX_FIELDS(X) \
  X(kAlias, "alias")                 \
  X(kAlternative, "alternative")     \
  X(kArgument, "argument")           \
  X(kArguments, "arguments")         \
  X(kAttribute, "attribute")         \
  X(kBody, "body")                   \
  X(kCondition, "condition")         \
  X(kConsequence, "consequence")     \
  X(kDefinition, "definition")       \
  X(kFunction, "function")           \
  X(kKey, "key")                     \
  X(kLeft, "left")                   \
  X(kModuleName, "module_name")      \
  X(kName, "name")                   \
  X(kObject, "object")               \
  X(kOperator, "operator")           \
  X(kOperators, "operators")         \
  X(kParameters, "parameters")       \
  X(kReturnType, "return_type")      \
  X(kRight, "right")                 \
  X(kSubject, "subject")             \
  X(kSubscript, "subscript")         \
  X(kSuperclasses, "superclasses")   \
  X(kType, "type")                   \
  X(kValue, "value")

#define KERNELFLEET_ENUMERATOR(enumerator, name) enumerator,
enum class Kind : uint8_t {
  kOther,
  // An operator or keyword that has a role: `+`, `not in`.
  kToken,
  KERNELFLEET_SYNTAX_KINDS(KERNELFLEET_ENUMERATOR)
};
enum class Field : uint8_t {
  kNone,
  KERNELFLEET_SYNTAX_FIELDS(KERNELFLEET_ENUMERATOR)
};
#undef KERNELFLEET_ENUMERATOR

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_SYNTAX_KINDS_H_
