// The grammar of rule files, rule by rule as LANGUAGE.md prints it.
//
// Included by parser.cc alone. Each struct is a PEG rule with its EBNF name. `must<>` marks a
// commit point: from there on the author can only have meant this construct, so a mismatch is an
// error with the message that messages.h gives that rule. `wrong::` holds mistakes that are
// recognised to be named; each has an action in parser.cc that raises.
//
// Two things are beyond plain PEG and live in the state `Nesting`: newlines are blanks inside ( )
// and [ ], and nesting is bounded, so that no file can exhaust the stack.
#ifndef REKEY_GRAMMAR_GRAMMAR_H_
#define REKEY_GRAMMAR_GRAMMAR_H_

#include <cstddef>
#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/analyze_traits.hpp>
#include <utility>
#include <vector>

namespace rekey::grammar {

using tao::pegtl::alnum;
using tao::pegtl::any;
using tao::pegtl::apply_mode;
using tao::pegtl::at;
using tao::pegtl::blank;
using tao::pegtl::digit;
using tao::pegtl::eof;
using tao::pegtl::eol;
using tao::pegtl::eolf;
using tao::pegtl::identifier;
using tao::pegtl::must;
using tao::pegtl::not_at;
using tao::pegtl::not_one;
using tao::pegtl::one;
using tao::pegtl::opt;
using tao::pegtl::plus;
using tao::pegtl::rewind_mode;
using tao::pegtl::seq;
using tao::pegtl::sor;
using tao::pegtl::star;
using tao::pegtl::type_list;

// --- State --------------------------------------------------------------------------------------

enum class Lines {
  kOne,    // a newline ends it
  kFree,   // newlines are blanks
  kBlock,  // one statement a line
};

struct Nesting {
  struct Open {
    const char* at;
    Lines lines;
  };
  std::vector<Open> open;
  bool free_lines = false;
};

inline constexpr size_t kMaxNesting = 100;
struct TooDeep {  // thrown
  const char* at;
};

// The bracket `Opening`, then Rules up to and with the closing one.
template <char Opening, Lines L, typename... Rules>
struct enclosed {
  using rule_t = enclosed;
  using subs_t = type_list<seq<Rules...>>;

  template <apply_mode A, rewind_mode M, template <typename...> class Action,
            template <typename...> class Control, typename Input, typename... States>
  static bool match(Input& in, Nesting& nesting, States&&... states) {
    if (in.empty() || in.peek_char() != Opening) return false;
    if (nesting.open.size() >= kMaxNesting) throw TooDeep{in.current()};
    auto mark = in.template mark<M>();
    using next = decltype(mark);
    const bool outer = nesting.free_lines;
    nesting.open.push_back({in.current(), L});
    nesting.free_lines = L == Lines::kFree;
    in.bump_in_this_line(1);
    // On an exception the stack stays as it is: it says what was open.
    const bool matched =
        Control<seq<Rules...>>::template match<A, next::next_rewind_mode, Action, Control>(
            in, nesting, states...);
    nesting.open.pop_back();
    nesting.free_lines = outer;
    return mark(matched);
  }
};

// --- Space --------------------------------------------------------------------------------------

struct comment : seq<one<'#'>, star<not_at<eol>, any>> {};
struct line_space : star<blank> {};
struct free_space : star<sor<seq<plus<blank>, opt<comment>>, seq<eol, opt<comment>>>> {};

// Blanks; newlines and comments too where they are free.
struct sp {
  using rule_t = sp;
  using subs_t = type_list<line_space, free_space>;

  template <apply_mode A, rewind_mode M, template <typename...> class Action,
            template <typename...> class Control, typename Input, typename... States>
  static bool match(Input& in, Nesting& nesting, States&&... states) {
    if (nesting.free_lines)
      return Control<free_space>::template match<A, M, Action, Control>(in, nesting, states...);
    return Control<line_space>::template match<A, M, Action, Control>(in, nesting, states...);
  }
};

struct blanks : plus<blank> {};
struct trail : opt<blanks, opt<comment>> {};
struct empty_line : seq<star<blank>, opt<comment>, eol> {};
struct next_line : seq<trail, eol, star<empty_line>, star<blank>> {};
struct gap : sor<next_line, blanks> {};

// The end of a statement; each statement has its own name for it, and so its own message.
struct done : at<trail, eolf> {};

// --- Words --------------------------------------------------------------------------------------

template <size_t N>
struct Letters {
  consteval Letters(const char (&literal)[N]) {  // NOLINT: a literal is meant
    for (size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  char text[N] = {};
};
template <Letters L, typename = std::make_index_sequence<sizeof(L.text) - 1>>
struct letters;
template <Letters L, size_t... I>
struct letters<L, std::index_sequence<I...>> : tao::pegtl::string<L.text[I]...> {};

struct text_char : sor<alnum, one<'_', '.', ':', '/', '@', '%', '~', '-'>> {};

// A word where keys may stand: `no.bias` is a key, not the word `no`.
template <Letters L>
struct word : seq<letters<L>, not_at<sor<text_char, one<'{', '\\'>>>> {};
// A word where only names may stand.
template <Letters L>
struct name_word : seq<letters<L>, not_at<sor<alnum, one<'_'>>>> {};

struct name : seq<not_at<sor<name_word<"and">, name_word<"or">, name_word<"not">>>, identifier> {};
struct maybe : one<'?'> {};

struct text : plus<text_char> {};
struct escape : seq<one<'\\'>, one<'\\', '{', '}', '"'>> {};
struct plain_text : plus<not_at<eol>, not_one<'"', '\\'>> {};
struct key_text : plus<not_at<eol>, not_one<'"', '\\', '{', '}'>> {};
struct close_quote : one<'"'> {};

namespace wrong {
struct escape : seq<one<'\\'>, not_at<eol>, any> {};
}  // namespace wrong

struct str
    : enclosed<'"', Lines::kOne, star<sor<plain_text, escape, wrong::escape>>, must<close_quote>> {
};
struct spaced_str : seq<blanks, str> {};

// --- Patterns -----------------------------------------------------------------------------------

struct hole_name : identifier {};
struct hole_kind : sor<str, text> {};
struct hole_kinds : seq<hole_kind, star<one<'|'>, hole_kind>> {};
struct close_hole : one<'}'> {};
struct hole : enclosed<'{', Lines::kOne, must<hole_name>, opt<one<':'>, must<hole_kinds>>,
                       must<close_hole>> {};

struct regex_text
    : plus<sor<seq<one<'\\'>, not_at<eol>, any>, seq<not_at<eol>, not_one<'/', '\\'>>>> {};
struct close_regex : one<'/'> {};
struct regex : enclosed<'/', Lines::kOne, must<regex_text>, must<close_regex>> {};

struct quoted_pattern : enclosed<'"', Lines::kOne, star<sor<key_text, hole, escape, wrong::escape>>,
                                 must<close_quote>> {};
struct bare_pattern : seq<not_at<letters<"->">>, plus<sor<text, hole, escape>>> {};
struct pattern : sor<regex, quoted_pattern, bare_pattern> {};
struct spaced_pattern : seq<blanks, pattern> {};

// --- Targets ------------------------------------------------------------------------------------

struct expr;

namespace wrong {
struct long_group : seq<one<'\\'>, digit, digit> {};
}  // namespace wrong
struct group : seq<one<'\\'>, digit> {};
struct any_group : sor<wrong::long_group, group> {};

struct interpolated : seq<sp, expr> {};
struct pad : seq<one<'0'>, digit> {};
struct pad_width : seq<pad> {};
struct close_interpolation : seq<sp, one<'}'>> {};
struct interpolation : enclosed<'{', Lines::kOne, must<interpolated>,
                                opt<sp, one<':'>, must<pad_width>>, must<close_interpolation>> {};

struct quoted_target
    : enclosed<'"', Lines::kOne,
               star<sor<key_text, interpolation, escape, any_group, wrong::escape>>,
               must<close_quote>> {};
struct bare_target : seq<not_at<letters<"->">>, plus<sor<text, interpolation, escape, any_group>>> {
};
struct target : sor<quoted_target, bare_target> {};
struct spaced_target : seq<blanks, target> {};

// --- Expressions --------------------------------------------------------------------------------

struct exponent : seq<one<'e', 'E'>, opt<one<'+', '-'>>, plus<digit>> {};
struct real : seq<plus<digit>, sor<seq<one<'.'>, plus<digit>, opt<exponent>>, exponent>> {};
struct integer : plus<digit> {};

struct comma : seq<sp, one<','>> {};
struct close_list : seq<sp, one<']'>> {};
struct values : seq<sp, opt<expr, star<comma, sp, expr>, opt<comma>>> {};
struct list : enclosed<'[', Lines::kFree, values, must<close_list>> {};

struct in_parens : seq<sp, expr> {};
struct close_parens : seq<sp, one<')'>> {};
struct parens : enclosed<'(', Lines::kFree, must<in_parens>, must<close_parens>> {};

struct close_args : seq<sp, one<')'>> {};
struct call_args : enclosed<'(', Lines::kFree, values, must<close_args>> {};
struct call : seq<name, opt<call_args>> {};

struct has_target : seq<sp, target> {};
struct has_args : enclosed<'(', Lines::kFree, must<has_target>, must<close_args>> {};
struct has : seq<name_word<"has">, has_args> {};

struct atom : sor<real, integer, str, any_group, has, call, list, parens> {};

struct operand : seq<sp, expr> {};
struct minus : one<'-'> {};
struct unary : seq<star<minus, sp>, atom> {};
struct product_operator : sor<letters<"//">, one<'*', '/', '%'>> {};
struct factor : seq<sp, unary> {};
struct product : seq<unary, star<sp, product_operator, must<factor>>> {};
struct sum_operator : sor<one<'+'>, seq<one<'-'>, not_at<one<'>'>>>> {};
struct summand : seq<sp, product> {};
struct sum : seq<product, star<sp, sum_operator, must<summand>>> {};
struct compare_operator
    : sor<letters<"==">, letters<"!=">, letters<"<=">, letters<">=">, one<'<', '>'>> {};
struct compared : seq<sp, sum> {};
struct negation : name_word<"not"> {};
struct compare : seq<star<negation, sp>, sum, opt<sp, compare_operator, must<compared>>> {};
struct conjunct : seq<sp, compare> {};
struct conjunction : seq<compare, star<sp, name_word<"and">, must<conjunct>>> {};
struct disjunct : seq<sp, conjunction> {};
struct expr : seq<conjunction, star<sp, name_word<"or">, must<disjunct>>> {};
struct spaced_expr : seq<blanks, expr> {};

struct range_end : seq<sp, expr> {};
struct dots : letters<".."> {};
struct range : seq<expr, sp, must<dots>, must<range_end>> {};

// --- Clauses ------------------------------------------------------------------------------------

struct arrow_target : seq<sp, target> {};
struct arrow : seq<sp, letters<"->">, must<arrow_target>> {};
struct needed_arrow : seq<arrow> {};

struct guard_condition : seq<sp, expr> {};
struct guard : seq<gap, name_word<"if">, must<guard_condition>> {};

struct by_range : seq<blanks, range> {};
struct by_item : seq<name, opt<blanks, name_word<"in">, must<by_range>>> {};
struct by_name : seq<sp, by_item> {};
struct by : seq<gap, name_word<"by">, must<by_name>, star<sp, one<','>, must<by_name>>> {};

struct arg_name : seq<name, sp, one<':'>> {};
struct arg : seq<opt<arg_name, sp>, expr, opt<sp, letters<"..">, must<range_end>>> {};
struct args : seq<sp, opt<arg, star<comma, sp, arg>, opt<comma>>> {};
struct op_args : enclosed<'(', Lines::kFree, args, must<close_args>> {};
struct op_call : seq<name, opt<op_args>> {};
struct op_body : seq<sp, op_call> {};
struct op : seq<opt<gap>, one<'|'>, must<op_body>> {};

namespace wrong {
struct late_guard : seq<gap, name_word<"if">> {};
struct late_by : seq<gap, name_word<"by">> {};
}  // namespace wrong
struct ops : opt<plus<op>, opt<sor<wrong::late_guard, wrong::late_by>>> {};

struct for_range : seq<name, blanks, name_word<"in">, must<by_range>> {};
struct for_what : seq<blanks, sor<for_range, pattern>> {};
struct for_clause : seq<blanks, name_word<"for">, must<for_what>> {};

struct close_dims : seq<sp, one<']'>> {};
struct dims : enclosed<'[', Lines::kFree, values, must<close_dims>> {};
struct tensor_type : seq<name, opt<dims>> {};

// --- Statements ---------------------------------------------------------------------------------

struct version_number : seq<blanks, integer> {};
struct version_end : done {};
struct version : seq<word<"rekey">, must<version_number>, must<version_end>> {};

struct strict_end : done {};
struct strict : seq<word<"strict">, must<strict_end>> {};

struct include_path : spaced_str {};
struct include_end : done {};
struct include : seq<word<"include">, must<include_path>, must<include_end>> {};

struct require_condition : spaced_expr {};
struct require_why : seq<sp, str> {};
struct require_end : done {};
struct require : seq<word<"require">, must<require_condition>, opt<sp, one<','>, must<require_why>>,
                     must<require_end>> {};

struct param_name : seq<blanks, name> {};
struct param_type
    : sor<name_word<"int">, name_word<"float">, name_word<"text">, name_word<"bool">> {};
struct spaced_param_type : seq<sp, param_type> {};
struct param_value : seq<sp, expr> {};
struct param_end : done {};
struct param : seq<word<"param">, must<param_name>, opt<sp, one<':'>, must<spaced_param_type>>,
                   opt<sp, one<'='>, must<param_value>>, must<param_end>> {};

struct let_name : seq<blanks, name> {};
struct let_equals : seq<sp, one<'='>> {};
struct let_value : seq<sp, expr> {};
struct let_end : done {};
struct let : seq<word<"let">, must<let_name>, must<let_equals>, must<let_value>, must<let_end>> {};

struct table_name : seq<blanks, name> {};
struct row_key : sor<str, text> {};
struct row_equals : seq<star<blank>, one<'='>> {};
struct row_value : seq<star<blank>, target> {};
struct row : seq<row_key, must<row_equals>, must<row_value>> {};
struct first_row : seq<sp, row> {};
struct next_row : seq<sor<seq<comma, sp>, seq<at<next_line>, sp>>, row> {};
struct close_table : seq<sp, one<'}'>> {};
struct rows
    : enclosed<'{', Lines::kFree, must<first_row>, star<next_row>, opt<comma>, must<close_table>> {
};
struct table_rows : seq<sp, rows> {};
struct table_end : done {};
struct table : seq<word<"table">, must<table_name>, must<table_rows>, must<table_end>> {};

struct source_pattern : spaced_pattern {};
struct source_end : done {};
struct source
    : seq<word<"source">, must<source_pattern>, must<needed_arrow>, opt<guard>, must<source_end>> {
};
struct sink_end : done {};
struct sink : seq<word<"sink">, must<source_pattern>, must<needed_arrow>, must<sink_end>> {};

struct select_path : sor<str, text> {};
struct select_what : seq<blanks, select_path> {};
struct select_end : done {};
struct select : seq<word<"select">, must<select_what>, must<select_end>> {};

namespace wrong {
struct bare_text : plus<not_at<sor<blank, eol, one<'"'>>>, any> {};
}  // namespace wrong
struct strip_mode : sor<word<"all">, word<"anywhere">, word<"suffix">> {};
struct strip_text : seq<blanks, sor<str, seq<not_at<one<'#'>>, wrong::bare_text>>> {};
struct first_strip_text : seq<strip_text> {};
struct strip_end : done {};
struct strip : seq<word<"strip">, opt<maybe>, opt<blanks, strip_mode>, must<first_strip_text>,
                   star<strip_text>, must<strip_end>> {};

struct verb_pattern : spaced_pattern {};
struct rename_end : done {};
struct rename
    : seq<word<"rename">, opt<maybe>, must<verb_pattern>, must<needed_arrow>, must<rename_end>> {};

struct affix_target : spaced_target {};
struct affix_end : done {};
struct prefix : seq<word<"prefix">, must<affix_target>, must<affix_end>> {};
struct suffix : seq<word<"suffix">, must<affix_target>, must<affix_end>> {};

struct map_end : done {};
struct map
    : seq<word<"map">, opt<maybe>, must<verb_pattern>, opt<arrow>, opt<guard>, ops, must<map_end>> {
};

struct keep_end : done {};
struct keep : seq<word<"keep">, opt<maybe>, must<verb_pattern>, opt<guard>, must<keep_end>> {};

struct same_as_word : seq<blanks, word<"as">> {};
struct same_as_key : spaced_target {};
struct same_as : seq<blanks, word<"same">, must<same_as_word>, must<same_as_key>> {};
struct drop_end : done {};
struct drop
    : seq<word<"drop">, opt<maybe>, must<verb_pattern>, opt<same_as>, opt<guard>, must<drop_end>> {
};

struct close_sources : seq<sp, one<']'>> {};
struct listed_source : seq<sp, pattern> {};
struct source_list : enclosed<'[', Lines::kFree, must<listed_source>, star<comma, sp, pattern>,
                              opt<comma>, must<close_sources>> {};
struct sources : sor<source_list, pattern> {};
struct merge_sources : seq<blanks, sources> {};
namespace wrong {
struct target_list : seq<one<'['>, star<not_at<sor<one<']'>, eol>>, any>, opt<one<']'>>> {};
}  // namespace wrong
struct merge_target : seq<sp, sor<target, wrong::target_list>> {};
struct merge_arrow : seq<sp, letters<"->">, must<merge_target>> {};
struct merge_needs_arrow : seq<merge_arrow> {};
struct joining_op : seq<at<opt<gap>, one<'|'>>, ops> {};
struct merge_end : done {};
struct merge : seq<word<"merge">, opt<maybe>, must<merge_sources>, must<merge_needs_arrow>,
                   star<sor<by, guard>>, must<joining_op>, must<merge_end>> {};

struct close_targets : seq<sp, one<']'>> {};
struct listed_target : seq<sp, target> {};
struct target_list : enclosed<'[', Lines::kFree, must<listed_target>, star<comma, sp, target>,
                              opt<comma>, must<close_targets>> {};
struct targets : sor<target_list, target> {};
struct split_targets : seq<sp, targets> {};
struct split_arrow : seq<sp, letters<"->">, must<split_targets>> {};
struct split_needs_arrow : seq<split_arrow> {};
struct cutting_op : seq<at<opt<gap>, one<'|'>>, ops> {};
struct split_end : done {};
struct split : seq<word<"split">, opt<maybe>, must<verb_pattern>, must<split_needs_arrow>,
                   star<sor<by, guard>>, must<cutting_op>, must<split_end>> {};

struct scope;
struct rule : sor<map, keep, drop, merge, split, scope> {};
namespace wrong {
struct scope_statement : seq<not_at<one<'}'>>, sor<seq<plus<alnum>, opt<one<'?'>>>, any>> {};
}  // namespace wrong
struct block_start : seq<trail, eol> {};
struct scope_line
    : sor<empty_line, seq<star<blank>, sor<rule, wrong::scope_statement>, trail, eolf>> {};
struct close_block : seq<star<blank>, one<'}'>> {};
struct block : enclosed<'{', Lines::kBlock, must<block_start>, star<not_at<eof>, scope_line>,
                        must<close_block>> {};
struct scope_block : seq<sp, block> {};
struct scope_end : done {};
struct scope : seq<word<"in">, opt<maybe>, must<verb_pattern>, opt<arrow>, opt<guard>,
                   must<scope_block>, must<scope_end>> {};

struct else_mode : sor<word<"pass">, word<"drop">, word<"error">> {};
struct else_what
    : seq<blanks, sor<seq<at<word<"error">>, else_mode, opt<blanks, str>>, else_mode>> {};
struct else_end : done {};
struct else_statement : seq<word<"else">, must<else_what>, must<else_end>> {};

struct then_end : done {};
struct then : seq<word<"then">, opt<blanks, str>, must<then_end>> {};

struct fill_target : spaced_target {};
struct fill_equals : seq<sp, one<'='>> {};
struct fill_value : seq<sp, expr> {};
struct fill_type : seq<blanks, name_word<"as">, blanks, name> {};
struct fill_end : done {};
struct fill : seq<word<"fill">, opt<maybe>, must<fill_target>, must<fill_equals>, must<fill_value>,
                  must<fill_type>, opt<for_clause>, ops, must<fill_end>> {};

struct copy_end : done {};
struct copy
    : seq<word<"copy">, opt<maybe>, must<verb_pattern>, must<needed_arrow>, must<copy_end>> {};

struct tie_name : spaced_target {};
struct tie_equals : seq<sp, one<'='>> {};
struct tie_of : seq<sp, target> {};
struct tie_end : done {};
struct tie
    : seq<word<"tie">, opt<maybe>, must<tie_name>, must<tie_equals>, must<tie_of>, must<tie_end>> {
};

struct tensor_value : seq<sp, expr> {};
struct type_of_tensor : seq<sp, tensor_type> {};
struct expect_count : seq<word<"count">, must<spaced_expr>> {};
struct expect_error : seq<word<"error">, opt<blanks, str>> {};
struct expect_no : seq<word<"no">, must<verb_pattern>> {};
struct equals_value : seq<sp, one<'='>, not_at<one<'>', '='>>, must<tensor_value>> {};
struct has_type : seq<sp, one<':'>, must<type_of_tensor>> {};
struct regex_pattern : seq<regex> {};
struct expect_tensor
    : seq<sor<regex_pattern, target>, opt<sor<equals_value, has_type>>, opt<for_clause>> {};
struct expect_what : seq<blanks, sor<expect_count, expect_error, expect_no, expect_tensor>> {};
struct expect_end : done {};
struct expect : seq<word<"expect">, must<expect_what>, must<expect_end>> {};

struct with_name : seq<blanks, name> {};
struct with_equals : seq<sp, one<'='>> {};
struct with_end : done {};
struct with
    : seq<word<"with">, must<with_name>, must<with_equals>, must<param_value>, must<with_end>> {};
struct given_target : spaced_target {};
struct given_end : done {};
struct given : seq<word<"given">, must<given_target>, opt<has_type>, opt<equals_value>,
                   opt<for_clause>, must<given_end>> {};
struct outcome : sor<word<"dropped">, word<"kept">, word<"passed">> {};
struct test_outcome : seq<sp, sor<outcome, target>> {};
struct test_needs_arrow : seq<sp, letters<"=>">> {};
struct test_arrow_end : done {};
struct test_arrow : seq<target, must<test_needs_arrow>, must<test_outcome>, must<test_arrow_end>> {
};
namespace wrong {
struct test_statement : seq<not_at<one<'}'>>, any> {};
}  // namespace wrong
struct test_line
    : sor<empty_line, seq<star<blank>, sor<with, given, expect, test_arrow, wrong::test_statement>,
                          trail, eolf>> {};
struct test_name : spaced_str {};
struct test_lines : enclosed<'{', Lines::kBlock, must<block_start>, star<not_at<eof>, test_line>,
                             must<close_block>> {};
struct test_block : seq<sp, test_lines> {};
struct test_end : done {};
struct test : seq<word<"test">, must<test_name>, must<test_block>, must<test_end>> {};

namespace wrong {
struct statement : sor<seq<plus<text_char>, opt<one<'?'>>>, any> {};
}  // namespace wrong

struct statement : sor<version, strict, include, require, param, let, table, source, sink, select,
                       strip, rename, prefix, suffix, rule, else_statement, then, fill, copy, tie,
                       expect, test, wrong::statement> {};
struct file_line : sor<empty_line, seq<star<blank>, statement, trail, eolf>> {};
struct last_line : seq<star<blank>, opt<comment>, eof> {};
struct file : seq<star<not_at<last_line>, file_line>, last_line> {};

// --- Parts alone --------------------------------------------------------------------------------

// The version line is read before anything else is parsed.
struct version_line : seq<star<empty_line>, star<blank>, letters<"rekey">, blanks, integer> {};

struct alone_pattern : seq<sp, pattern> {};
struct alone_expr : seq<sp, expr> {};
struct alone_end : seq<sp, eof> {};
struct only_pattern : seq<must<alone_pattern>, must<alone_end>> {};
struct only_expr : seq<must<alone_expr>, must<alone_end>> {};

}  // namespace rekey::grammar

namespace tao::pegtl {

template <typename Name, char Opening, rekey::grammar::Lines L, typename... Rules>
struct analyze_traits<Name, rekey::grammar::enclosed<Opening, L, Rules...>>
    : analyze_traits<Name, typename seq<one<Opening>, Rules...>::rule_t> {};

template <typename Name>
struct analyze_traits<Name, rekey::grammar::sp>
    : analyze_opt_traits<rekey::grammar::line_space, rekey::grammar::free_space> {};

}  // namespace tao::pegtl

#endif  // REKEY_GRAMMAR_GRAMMAR_H_
