// What is said at each commit point of the grammar.
//
// One text for each rule that grammar.h wraps in `must<>`: a line saying what was expected, then, a
// line each, ways out. hints.cc adds what stands there instead, and advice that depends on it.
// `must_if` with RequireMessage refuses to compile a commit point that has no text here.
#ifndef REKEY_GRAMMAR_MESSAGES_H_
#define REKEY_GRAMMAR_MESSAGES_H_

#include <tao/pegtl/must_if.hpp>

#include "grammar/grammar.h"

namespace rekey::grammar {

template <typename Rule>
inline constexpr const char* kMessage = nullptr;

// --- Texts, patterns, targets -------------------------------------------------------------------

template <>
inline constexpr auto kMessage<close_quote> = "expected `\"` to close the text";
template <>
inline constexpr auto kMessage<hole_name> =
    "expected the name of a hole after `{`\n"
    "write `{x}` for one segment, `{x:int}` for digits, `{x:any}` for any text, or `\\{` for a "
    "brace";
template <>
inline constexpr auto kMessage<hole_kinds> =
    "expected what the hole takes after `:`\n"
    "write `int`, `any`, a table's name, or words separated by `|`: `{w:weight|bias}`";
template <>
inline constexpr auto kMessage<close_hole> =
    "expected `}` to close the hole\n"
    "a hole is `{name}` or `{name:kind}`, without blanks; arithmetic stands in targets only";
template <>
inline constexpr auto kMessage<regex_text> =
    "expected a regex after `/`\n"
    "a text that begins with `/` is written in quotes";
template <>
inline constexpr auto kMessage<close_regex> = "expected `/` to close the regex";
template <>
inline constexpr auto kMessage<interpolated> =
    "expected a value after `{`\n"
    "write `{name}`, `{i + 1}`, `{table(w)}`, or `\\{` for a brace";
template <>
inline constexpr auto kMessage<pad_width> =
    "expected `0` and one digit after `:`, such as `{i:03}`\n"
    "what a hole takes is written in the pattern; a target only names it: `{x}`";
template <>
inline constexpr auto kMessage<close_interpolation> = "expected `}` to close the value";

// --- Expressions --------------------------------------------------------------------------------

template <>
inline constexpr auto kMessage<close_list> = "expected `,` or `]` in the list";
template <>
inline constexpr auto kMessage<in_parens> = "expected a value after `(`";
template <>
inline constexpr auto kMessage<close_parens> = "expected `)`";
template <>
inline constexpr auto kMessage<close_args> = "expected `,` or `)` after the argument";
template <>
inline constexpr auto kMessage<has_target> = "expected a key in `has( )`";
template <>
inline constexpr auto kMessage<factor> = "expected a value after the operator";
template <>
inline constexpr auto kMessage<summand> = "expected a value after the operator";
template <>
inline constexpr auto kMessage<compared> = "expected a value after the comparison";
template <>
inline constexpr auto kMessage<conjunct> = "expected a condition after `and`";
template <>
inline constexpr auto kMessage<disjunct> = "expected a condition after `or`";
template <>
inline constexpr auto kMessage<dots> =
    "expected `..` and the end of the range\n"
    "a range is `0..n`: 0 up to and without n";
template <>
inline constexpr auto kMessage<range_end> = "expected the end of the range after `..`";

// --- Clauses ------------------------------------------------------------------------------------

template <>
inline constexpr auto kMessage<arrow_target> =
    "expected a target after `->`\n"
    "write `-> \"\"` for an empty text, or leave the arrow out to keep the name";
template <>
inline constexpr auto kMessage<needed_arrow> = "expected `->` and a target";
template <>
inline constexpr auto kMessage<guard_condition> =
    "expected a condition after `if`, such as `rank == 4`";
template <>
inline constexpr auto kMessage<by_name> = "expected the name of a hole after `by`";
template <>
inline constexpr auto kMessage<by_range> = "expected a range after `in`, such as `0..n`";
template <>
inline constexpr auto kMessage<op_body> =
    "expected an operation after `|`, such as `transpose` or `cast(bf16)`";
template <>
inline constexpr auto kMessage<for_what> = "expected `NAME in 0..n` or a pattern after `for`";
template <>
inline constexpr auto kMessage<close_dims> = "expected `,` or `]` in the shape";

// --- Statements ---------------------------------------------------------------------------------

template <>
inline constexpr auto kMessage<version_number> =
    "expected the version of the language after `rekey`\n"
    "write `rekey 1`";
template <>
inline constexpr auto kMessage<version_end> = "unexpected text after the version";
template <>
inline constexpr auto kMessage<strict_end> = "unexpected text after `strict`";
template <>
inline constexpr auto kMessage<include_path> =
    "expected a quoted path after `include`, such as `include \"common/unwrap.rekey\"`";
template <>
inline constexpr auto kMessage<include_end> = "unexpected text after the path";
template <>
inline constexpr auto kMessage<require_condition> =
    "expected a condition after `require`, such as `heads % 8 == 0`";
template <>
inline constexpr auto kMessage<require_why> = "expected the reason in quotes after `,`";
template <>
inline constexpr auto kMessage<require_end> =
    "unexpected text after the condition\n"
    "`require` is written `require CONDITION, \"why\"`";
template <>
inline constexpr auto kMessage<param_name> = "expected a name after `param`";
template <>
inline constexpr auto kMessage<spaced_param_type> =
    "expected the type of the param: `int`, `float`, `text` or `bool`";
template <>
inline constexpr auto kMessage<param_value> = "expected a value after `=`";
template <>
inline constexpr auto kMessage<param_end> =
    "unexpected text after the param\n"
    "a param is written `param n: int`, `param n = 12` or `param n: int = 12`";
template <>
inline constexpr auto kMessage<let_name> = "expected a name after `let`";
template <>
inline constexpr auto kMessage<let_equals> = "expected `=` after the name";
template <>
inline constexpr auto kMessage<let_value> = "expected a value after `=`";
template <>
inline constexpr auto kMessage<let_end> = "unexpected text after the value";
template <>
inline constexpr auto kMessage<table_name> = "expected a name after `table`";
template <>
inline constexpr auto kMessage<table_rows> =
    "expected `{` and the rows of the table\n"
    "write `table norm { gamma = weight, beta = bias }`";
template <>
inline constexpr auto kMessage<first_row> = "expected a row, such as `gamma = weight`";
template <>
inline constexpr auto kMessage<row_equals> =
    "expected `=` after the key of the row\n"
    "write `table norm { gamma = weight, beta = bias }`";
template <>
inline constexpr auto kMessage<row_value> = "expected the value of the row after `=`";
template <>
inline constexpr auto kMessage<close_table> = "expected `,`, a new line or `}` after the row";
template <>
inline constexpr auto kMessage<table_end> = "unexpected text after `}`";
template <>
inline constexpr auto kMessage<source_pattern> =
    "expected a pattern for file paths, such as `mp_rank_{t:int}/model.pt`";
template <>
inline constexpr auto kMessage<source_end> = "expected `if` or the end of the line";
template <>
inline constexpr auto kMessage<sink_end> = "unexpected text after the target";
template <>
inline constexpr auto kMessage<select_what> =
    "expected the entry to take after `select`, such as `select model_state_dict`, or `all`";
template <>
inline constexpr auto kMessage<select_end> = "unexpected text after the entry";
template <>
inline constexpr auto kMessage<first_strip_text> =
    "expected the text to strip, in quotes, such as `strip \"module.\"`";
template <>
inline constexpr auto kMessage<strip_end> =
    "unexpected text after the texts to strip\n"
    "the texts are separated by blanks: `strip all \"module.\" \"_orig_mod.\"`";
template <>
inline constexpr auto kMessage<verb_pattern> =
    "expected a pattern\n"
    "write a text with holes, such as `layers.{i:int}.weight`, or a /regex/";
template <>
inline constexpr auto kMessage<rename_end> = "unexpected text after the target";
template <>
inline constexpr auto kMessage<affix_target> =
    "expected the text to put there, such as `prefix \"model.\"`";
template <>
inline constexpr auto kMessage<affix_end> = "unexpected text after the text";
template <>
inline constexpr auto kMessage<map_end> =
    "expected `->`, `if`, `|` or the end of the line\n"
    "the order is `map PATTERN -> TARGET if CONDITION | OPERATION`";
template <>
inline constexpr auto kMessage<keep_end> =
    "expected `if` or the end of the line\n"
    "`keep` leaves name and tensor alone; to change either, write `map`";
template <>
inline constexpr auto kMessage<drop_end> =
    "expected `same as`, `if` or the end of the line\n"
    "`drop` takes a pattern only; to rename, write `map`";
template <>
inline constexpr auto kMessage<same_as_word> = "expected `as` and a key after `same`";
template <>
inline constexpr auto kMessage<same_as_key> = "expected the key to compare with after `same as`";
template <>
inline constexpr auto kMessage<listed_source> = "expected a pattern after `[`";
template <>
inline constexpr auto kMessage<close_sources> = "expected `,` or `]` in the list of sources";
template <>
inline constexpr auto kMessage<merge_sources> =
    "expected a pattern, or a list of patterns `[A, B]`, after `merge`";
template <>
inline constexpr auto kMessage<merge_target> = "expected a target after `->`";
template <>
inline constexpr auto kMessage<merge_needs_arrow> =
    "expected `->` and a target\n"
    "the order is `merge PATTERN -> TARGET by HOLE | OPERATION`";
template <>
inline constexpr auto kMessage<joining_op> =
    "expected `|` and the operation that joins the tensors\n"
    "write `| cat(0)`, `| stack(0)`, `| same`, `| sum`, `| mean` or `| diff`";
template <>
inline constexpr auto kMessage<merge_end> =
    "expected `|` or the end of the line\n"
    "the order is `merge PATTERN -> TARGET by HOLE if CONDITION | OPERATION`";
template <>
inline constexpr auto kMessage<listed_target> = "expected a target after `[`";
template <>
inline constexpr auto kMessage<close_targets> = "expected `,` or `]` in the list of targets";
template <>
inline constexpr auto kMessage<split_targets> =
    "expected a list of targets `[A, B]`, or one target with `by`, after `->`";
template <>
inline constexpr auto kMessage<split_needs_arrow> =
    "expected `->` and targets\n"
    "the order is `split PATTERN -> [TARGET, TARGET] | OPERATION`";
template <>
inline constexpr auto kMessage<cutting_op> =
    "expected `|` and the operation that cuts the tensor\n"
    "write `| chunk(0)`, `| sections(0, [4, 2, 2])` or `| unstack(0)`";
template <>
inline constexpr auto kMessage<split_end> =
    "expected `|` or the end of the line\n"
    "the order is `split PATTERN -> [TARGET, TARGET] by HOLE if CONDITION | OPERATION`";
template <>
inline constexpr auto kMessage<scope_block> =
    "expected `{` and the rules of the scope\n"
    "write `in PATTERN -> TARGET {`, a rule a line, and `}`";
template <>
inline constexpr auto kMessage<block_start> =
    "expected a new line after `{`\n"
    "each line of the block stands on its own line";
template <>
inline constexpr auto kMessage<close_block> = "expected `}` to close the block";
template <>
inline constexpr auto kMessage<scope_end> = "unexpected text after `}`";
template <>
inline constexpr auto kMessage<else_what> =
    "expected `pass`, `drop` or `error \"why\"` after `else`";
template <>
inline constexpr auto kMessage<else_end> =
    "unexpected text after `else`\n"
    "write `else pass`, `else drop` or `else error \"why\"`";
template <>
inline constexpr auto kMessage<then_end> =
    "unexpected text after `then`\n"
    "a pass may have a quoted name: `then \"Hugging Face names\"`";
template <>
inline constexpr auto kMessage<fill_target> = "expected the key to fill in";
template <>
inline constexpr auto kMessage<fill_equals> = "expected `=` and a value after the key";
template <>
inline constexpr auto kMessage<fill_value> =
    "expected a value after `=`, such as `0`, `zeros(4)` or `arange(n)`";
template <>
inline constexpr auto kMessage<fill_type> =
    "expected `as` and a dtype after the value\n"
    "the type is always written: `fill K = zeros(4) as f32`";
template <>
inline constexpr auto kMessage<fill_end> =
    "expected `for`, `|` or the end of the line\n"
    "the order is `fill KEY = VALUE as TYPE for i in 0..n | OPERATION`";
template <>
inline constexpr auto kMessage<copy_end> = "unexpected text after the target";
template <>
inline constexpr auto kMessage<tie_name> = "expected the key to tie";
template <>
inline constexpr auto kMessage<tie_equals> = "expected `=` and the key it shares its tensor with";
template <>
inline constexpr auto kMessage<tie_of> = "expected the key it shares its tensor with after `=`";
template <>
inline constexpr auto kMessage<tie_end> = "unexpected text after the key";
template <>
inline constexpr auto kMessage<tensor_value> = "expected a value after `=`";
template <>
inline constexpr auto kMessage<type_of_tensor> =
    "expected a dtype after `:`, such as `f32` or `bf16[2, 3]`";
template <>
inline constexpr auto kMessage<spaced_expr> = "expected a number after `count`";
template <>
inline constexpr auto kMessage<expect_what> =
    "expected a key, `no PATTERN`, `count N` or `error \"text\"` after `expect`";
template <>
inline constexpr auto kMessage<expect_end> =
    "expected `:`, `=`, `for` or the end of the line\n"
    "write `expect KEY : f32[2, 3]` or `expect KEY = [1, 2]`";
template <>
inline constexpr auto kMessage<with_name> = "expected the name of a param after `with`";
template <>
inline constexpr auto kMessage<with_equals> = "expected `=` after the name";
template <>
inline constexpr auto kMessage<with_end> = "unexpected text after the value";
template <>
inline constexpr auto kMessage<given_target> = "expected a key after `given`";
template <>
inline constexpr auto kMessage<given_end> =
    "expected `:`, `=`, `for` or the end of the line\n"
    "write `given KEY : f32[2, 3]` or `given KEY = [1, 2]`";
template <>
inline constexpr auto kMessage<test_needs_arrow> =
    "expected `=>` and what becomes of the key\n"
    "a test holds lines `with`, `given`, `expect` and `key => key`";
template <>
inline constexpr auto kMessage<test_outcome> =
    "expected a key, `dropped`, `kept` or `passed` after `=>`";
template <>
inline constexpr auto kMessage<test_arrow_end> = "unexpected text after the key";
template <>
inline constexpr auto kMessage<test_name> =
    "expected the name of the test in quotes, such as `test \"names\" {`";
template <>
inline constexpr auto kMessage<test_block> = "expected `{` and the lines of the test";
template <>
inline constexpr auto kMessage<test_end> = "unexpected text after `}`";

template <>
inline constexpr auto kMessage<alone_pattern> = kMessage<verb_pattern>;
template <>
inline constexpr auto kMessage<alone_expr> = "expected a value";
template <>
inline constexpr auto kMessage<alone_end> = "unexpected text after the end";

struct messages {
  template <typename Rule>
  static constexpr const char* message = kMessage<Rule>;
  // Only a `must<>` raises: elsewhere such a rule may fail and the next alternative is tried.
  template <typename Rule>
  static constexpr bool raise_on_failure = false;
};

template <typename Rule>
using control = tao::pegtl::must_if<messages>::control<Rule>;

}  // namespace rekey::grammar

#endif  // REKEY_GRAMMAR_MESSAGES_H_
