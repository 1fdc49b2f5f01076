// A second, naive interpreter of the key-level language: the oracle of oracle_test.cc.
//
// It walks the parser's tree and shares nothing with the compiler and the rewriter: one RE2 at a
// time, one key at a time, plain loops and copied strings. It covers edits, map, keep, drop,
// guards, scopes, else, then, affixes, tables, params, lets and expressions.
#ifndef REKEY_TESTS_UNIT_ORACLE_NAIVE_H_
#define REKEY_TESTS_UNIT_ORACLE_NAIVE_H_

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "grammar/ast.h"

namespace rekey::oracle {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct NaiveResult {
  std::string error;                           // "" when there is none
  std::map<std::string, std::string> outputs;  // output key -> source key
  std::set<std::string> dropped;               // source keys
};

class Naive {
 public:
  // Keys are distinct. The engine's error for an output of no tensors is one here too.
  NaiveResult Run(const ast::File& file, const std::vector<std::string>& keys) {
    NaiveResult result;
    try {
      for (const std::string& key : keys) now_[key] = key;
      RunStatements(file);
      if (now_.empty()) throw Failure("no tensors are left");
      result.outputs = now_;
      result.dropped = dropped_;
    } catch (const Failure& failure) {
      result.error = failure.what();
    }
    return result;
  }

  // The keys as they stand before the next statement of the last pass; nothing after an error.
  std::vector<std::string> KeysAfter(const ast::File& file, const std::vector<std::string>& keys) {
    std::vector<std::string> out;
    for (const auto& [key, source] : Run(file, keys).outputs) out.push_back(key);
    return out;
  }

 private:
  using Value = std::variant<int64_t, bool, std::string>;

  struct Capture {
    std::string text;
    bool is_there = false;  // false: a regex group that took no part
    enum class Kind { kText, kInt, kPadded, kGroup } kind = Kind::kText;
  };

  // Names and \0 .. \9 as one scope level sees them.
  struct Bindings {
    std::map<std::string, Capture> names;
    std::vector<Capture> groups;
    std::vector<Capture> holes;  // in order, unnamed ones too
  };

  struct NaiveRule {
    const ast::Rule* rule;
    std::vector<const ast::Scope*> scopes;  // outermost first
  };

  struct PassParts {
    std::vector<const ast::Statement*> edits;
    std::vector<NaiveRule> rules;
    std::vector<const ast::Statement*> affixes;
    const ast::Else* otherwise = nullptr;
  };

  void RunStatements(const ast::File& file) {
    PassParts pass;
    for (const ast::Statement& statement : file.statements) {
      if (auto* param = std::get_if<ast::Param>(&statement.node)) {
        values_[param->name] = Evaluate(*param->value, {});
      } else if (auto* let = std::get_if<ast::Let>(&statement.node)) {
        values_[let->name] = Evaluate(let->value, {});
      } else if (auto* table = std::get_if<ast::Table>(&statement.node)) {
        for (const ast::Table::Row& row : table->rows) {
          tables_[table->name][row.key] = row.value.parts.at(0).text;
        }
      } else if (std::holds_alternative<ast::Strip>(statement.node) ||
                 std::holds_alternative<ast::Rename>(statement.node)) {
        pass.edits.push_back(&statement);
      } else if (std::holds_alternative<ast::Affix>(statement.node)) {
        pass.affixes.push_back(&statement);
      } else if (auto* otherwise = std::get_if<ast::Else>(&statement.node)) {
        pass.otherwise = otherwise;
      } else if (std::holds_alternative<ast::Then>(statement.node)) {
        RunPass(pass);
        pass = {};
      } else {
        Flatten(statement, {}, &pass.rules);
      }
    }
    RunPass(pass);
  }

  static void Flatten(const ast::Statement& statement, std::vector<const ast::Scope*> scopes,
                      std::vector<NaiveRule>* rules) {
    if (auto* rule = std::get_if<ast::Rule>(&statement.node)) {
      rules->push_back({rule, scopes});
    } else if (auto* scope = std::get_if<ast::Scope>(&statement.node)) {
      scopes.push_back(scope);
      for (const ast::Statement& inner : scope->body) Flatten(inner, scopes, rules);
    }
  }

  // --- Passes ----------------------------------------------------------------------------------

  void RunPass(const PassParts& pass) {
    std::map<std::string, std::string> edited;
    for (const auto& [key, source] : now_) {
      std::string text = key;
      for (const ast::Statement* edit : pass.edits) text = EditKey(*edit, text);
      Put(text, source, &edited);
    }
    now_ = edited;
    std::map<std::string, std::string> after;
    for (const auto& [key, source] : now_) {
      const std::optional<std::string> target = Claim(pass, key, source);
      if (!target) continue;
      std::string text = *target;
      for (const ast::Statement* statement : pass.affixes) {
        const auto& affix = std::get<ast::Affix>(statement->node);
        const std::string added = Print(affix.target, {}, {});
        text = affix.suffix ? text + added : added + text;
      }
      Put(text, source, &after);
    }
    now_ = after;
  }

  static void Put(const std::string& key, const std::string& source,
                  std::map<std::string, std::string>* keys) {
    if (key.empty()) throw Failure("an empty key");
    if (!keys->emplace(key, source).second) throw Failure("a collision at " + key);
  }

  // What the rules and `else` make of a key; nothing when it is dropped.
  std::optional<std::string> Claim(const PassParts& pass, const std::string& key,
                                   const std::string& source) {
    for (const NaiveRule& rule : pass.rules) {
      std::vector<Bindings> levels;
      if (!Fits(rule, key, &levels)) continue;
      if (rule.rule->verb == ast::Verb::kKeep) return key;
      if (rule.rule->verb == ast::Verb::kDrop) {
        dropped_.insert(source);
        return std::nullopt;
      }
      return TargetOf(rule, levels);
    }
    if (pass.otherwise && pass.otherwise->mode == ast::Else::Mode::kError) {
      throw Failure("else error at " + key);
    }
    if (pass.otherwise && pass.otherwise->mode == ast::Else::Mode::kDrop) {
      dropped_.insert(source);
      return std::nullopt;
    }
    return key;
  }

  // --- Matching --------------------------------------------------------------------------------

  std::string RegexOf(const ast::Pattern& pattern) const {
    if (pattern.is_regex) {
      std::string regex = pattern.regex;
      if (!regex.empty() && regex.front() == '^') regex.erase(0, 1);
      if (!regex.empty() && regex.back() == '$') regex.pop_back();
      return "(" + regex + ")";
    }
    std::string regex;
    for (const ast::Pattern::Part& part : pattern.parts) {
      regex += part.hole ? "(" + HoleRegex(*part.hole) + ")" : RE2::QuoteMeta(part.text);
    }
    return regex;
  }

  std::string HoleRegex(const ast::Hole& hole) const {
    if (hole.kinds.empty()) return "[^./]+";
    std::vector<std::string> words = hole.kinds;
    if (words.size() == 1) {
      if (words[0] == "any") return ".+";
      if (words[0] == "int") return "[0-9]+";
      if (words[0][0] == '0') {  // {i:03}
        return "[0-9]{" + words[0].substr(1) + "}|[1-9][0-9]{" + words[0].substr(1) + ",}";
      }
      const auto table = tables_.find(words[0]);
      words.clear();
      for (const auto& [word, value] : table->second) words.push_back(word);
    }
    std::sort(words.begin(), words.end(),
              [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
    std::string regex;
    for (const std::string& word : words)
      regex += (regex.empty() ? "" : "|") + RE2::QuoteMeta(word);
    return regex;
  }

  Capture::Kind KindOf(const ast::Hole& hole) const {
    if (hole.kinds.empty() || hole.kinds[0] == "any") return Capture::Kind::kText;
    if (hole.kinds[0] == "int") return Capture::Kind::kInt;
    if (hole.kinds.size() == 1 && hole.kinds[0][0] == '0' && hole.kinds[0].size() == 2) {
      return Capture::Kind::kPadded;
    }
    std::vector<std::string> words = hole.kinds;
    if (const auto table = tables_.find(words[0]); table != tables_.end()) {
      words.clear();
      for (const auto& [word, value] : table->second) words.push_back(word);
    }
    const bool digits = std::all_of(words.begin(), words.end(), [](const std::string& word) {
      return word.find_first_not_of("0123456789") == std::string::npos;
    });
    return digits ? Capture::Kind::kInt : Capture::Kind::kText;
  }

  // Takes this pattern's captures off the front of `texts`.
  Bindings Bind(const ast::Pattern& pattern, const std::vector<re2::StringPiece>& texts,
                size_t* at) const {
    Bindings bound;
    const auto take = [&](Capture::Kind kind) {
      const re2::StringPiece& text = texts[(*at)++];
      Capture capture;
      capture.is_there = text.data() != nullptr;
      if (capture.is_there) capture.text = std::string(text.data(), text.size());
      capture.kind = kind;
      return capture;
    };
    if (!pattern.is_regex) {
      for (const ast::Pattern::Part& part : pattern.parts) {
        if (!part.hole) continue;
        bound.holes.push_back(take(KindOf(*part.hole)));
        bound.names[part.hole->name] = bound.holes.back();
      }
      return bound;
    }
    const RE2 alone(RegexOf(pattern), RE2::Quiet);
    for (int i = 0; i < alone.NumberOfCapturingGroups(); ++i) {
      bound.groups.push_back(take(Capture::Kind::kGroup));
    }
    for (const auto& [name, group] : alone.NamedCapturingGroups()) {
      bound.names[name] = bound.groups[static_cast<size_t>(group) - 1];
    }
    return bound;
  }

  // One level of bindings for each scope and one for the rule.
  bool Fits(const NaiveRule& rule, const std::string& key, std::vector<Bindings>* levels) const {
    const ast::Pattern& own = rule.rule->sources.at(0);
    std::string whole;
    for (const ast::Scope* scope : rule.scopes) whole += RegexOf(scope->pattern);
    whole += RegexOf(own);
    const RE2 re(whole, RE2::Quiet);
    if (!re.ok()) throw Failure("a bad regex");
    std::vector<re2::StringPiece> texts(static_cast<size_t>(re.NumberOfCapturingGroups()) + 1);
    if (!re.Match(key, 0, key.size(), RE2::ANCHOR_BOTH, texts.data(),
                  static_cast<int>(texts.size()))) {
      return false;
    }
    size_t at = 1;
    for (const ast::Scope* scope : rule.scopes) levels->push_back(Bind(scope->pattern, texts, &at));
    levels->push_back(Bind(own, texts, &at));
    for (size_t i = 0; i < rule.scopes.size(); ++i) {
      const auto& guard = rule.scopes[i]->guard;
      if (guard && !Holds(*guard, *levels, (*levels)[i])) return false;
    }
    return !rule.rule->guard || Holds(*rule.rule->guard, *levels, levels->back());
  }

  std::string TargetOf(const NaiveRule& rule, const std::vector<Bindings>& levels) const {
    std::string target;
    for (size_t i = 0; i < rule.scopes.size(); ++i) {
      const ast::Scope& scope = *rule.scopes[i];
      if (scope.target) {
        target += Print(*scope.target, levels, levels[i]);
        continue;
      }
      size_t hole = 0;
      for (const ast::Pattern::Part& part : scope.pattern.parts) {
        target += part.hole ? levels[i].holes[hole++].text : part.text;
      }
    }
    return target + Print(rule.rule->targets.at(0), levels, levels.back());
  }

  // --- Targets and expressions -----------------------------------------------------------------

  static const Capture* FindName(const std::vector<Bindings>& levels, const std::string& name) {
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
      const auto found = level->names.find(name);
      if (found != level->names.end()) return &found->second;
    }
    return nullptr;
  }

  std::string Print(const ast::Target& target, const std::vector<Bindings>& levels,
                    const Bindings& own) const {
    std::string text;
    for (const ast::Target::Part& part : target.parts) {
      switch (part.kind) {
        case ast::Target::Part::Kind::kText:
          text += part.text;
          break;
        case ast::Target::Part::Kind::kGroup:
          text += own.groups.at(static_cast<size_t>(part.group)).text;
          break;
        case ast::Target::Part::Kind::kExpr:
          text += PrintExpr(part, levels, own);
          break;
      }
    }
    return text;
  }

  std::string PrintExpr(const ast::Target::Part& part, const std::vector<Bindings>& levels,
                        const Bindings& own) const {
    const ast::Expr& expr = *part.expr;
    if (part.pad == 0 && expr.kind == ast::Expr::Kind::kName) {
      const Capture* hole = FindName(levels, expr.text);
      if (hole && hole->kind != Capture::Kind::kPadded) return hole->text;
    }
    if (part.pad == 0 && expr.kind == ast::Expr::Kind::kGroup) {
      return own.groups.at(static_cast<size_t>(expr.integer)).text;
    }
    const Value value = Evaluate(expr, levels, own);
    if (const std::string* text = std::get_if<std::string>(&value)) {
      if (part.pad == 0) return *text;
    }
    const int64_t number = Number(value);
    if (number < 0) throw Failure("a number below 0");
    std::string digits = std::to_string(number);
    while (static_cast<int>(digits.size()) < part.pad) digits = "0" + digits;
    return digits;
  }

  static int64_t Number(const Value& value) {
    if (const int64_t* number = std::get_if<int64_t>(&value)) return *number;
    const std::string* text = std::get_if<std::string>(&value);
    if (!text || text->empty() || text->find_first_not_of("0123456789") != std::string::npos) {
      throw Failure("not a number");
    }
    return std::stoll(*text);
  }

  bool Holds(const ast::Expr& guard, const std::vector<Bindings>& levels,
             const Bindings& own) const {
    return std::get<bool>(Evaluate(guard, levels, own));
  }

  Value Evaluate(const ast::Expr& expr, const std::vector<Bindings>& levels) const {
    return Evaluate(expr, levels, {});
  }

  Value Evaluate(const ast::Expr& expr, const std::vector<Bindings>& levels,
                 const Bindings& own) const {
    using Kind = ast::Expr::Kind;
    switch (expr.kind) {
      case Kind::kInteger:
        return expr.integer;
      case Kind::kText:
        return expr.text;
      case Kind::kGroup: {
        const Capture& group = own.groups.at(static_cast<size_t>(expr.integer));
        return group.text;
      }
      case Kind::kName: {
        const Capture* hole = FindName(levels, expr.text);
        if (!hole) return values_.at(expr.text);
        if (hole->kind == Capture::Kind::kInt || hole->kind == Capture::Kind::kPadded) {
          return static_cast<int64_t>(std::stoll(hole->text));
        }
        return hole->text;
      }
      case Kind::kHas:
        return now_.count(Print(*expr.target, levels, own)) > 0;
      case Kind::kCall:
        return Call(expr, levels, own);
      case Kind::kUnary: {
        const Value value = Evaluate(expr.args[0], levels, own);
        if (expr.text == "not") return !std::get<bool>(value);
        return -Number(value);
      }
      case Kind::kBinary:
        return Binary(expr, levels, own);
      default:
        throw Failure("an expression the oracle does not know");
    }
  }

  // The text of an argument as it stands in the key.
  std::string ArgumentText(const ast::Expr& expr, const std::vector<Bindings>& levels,
                           const Bindings& own) const {
    if (expr.kind == ast::Expr::Kind::kName) {
      if (const Capture* hole = FindName(levels, expr.text)) return hole->text;
    }
    const Value value = Evaluate(expr, levels, own);
    if (const std::string* text = std::get_if<std::string>(&value)) return *text;
    return std::to_string(std::get<int64_t>(value));
  }

  Value Call(const ast::Expr& expr, const std::vector<Bindings>& levels,
             const Bindings& own) const {
    std::string text = ArgumentText(expr.args.at(0), levels, own);
    if (expr.text == "dots" || expr.text == "slashes") {
      for (char& c : text) {
        if (expr.text == "dots" && c == '/') {
          c = '.';
        } else if (expr.text == "slashes" && c == '.') {
          c = '/';
        }
      }
      return text;
    }
    const auto& table = tables_.at(expr.text);
    const auto row = table.find(text);
    if (row == table.end()) throw Failure("no row " + text + " in " + expr.text);
    return row->second;
  }

  static int64_t FloorDivide(int64_t a, int64_t b) {
    if (b == 0) throw Failure("a division by zero");
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  }

  Value Binary(const ast::Expr& expr, const std::vector<Bindings>& levels,
               const Bindings& own) const {
    const std::string& op = expr.text;
    const Value left = Evaluate(expr.args[0], levels, own);
    if (op == "and" && !std::get<bool>(left)) return false;
    if (op == "or" && std::get<bool>(left)) return true;
    const Value right = Evaluate(expr.args[1], levels, own);
    if (op == "and" || op == "or") return std::get<bool>(right);
    if ((op == "==" || op == "!=") && std::holds_alternative<std::string>(left) &&
        std::holds_alternative<std::string>(right)) {
      return (std::get<std::string>(left) == std::get<std::string>(right)) == (op == "==");
    }
    const int64_t a = Number(left);
    const int64_t b = Number(right);
    if (op == "+") return a + b;
    if (op == "-") return a - b;
    if (op == "*") return a * b;
    if (op == "//") return FloorDivide(a, b);
    if (op == "%") return a - b * FloorDivide(a, b);
    if (op == "/") {
      if (b == 0 || a % b != 0) throw Failure("a division that does not come out");
      return a / b;
    }
    if (op == "==") return a == b;
    if (op == "!=") return a != b;
    if (op == "<") return a < b;
    if (op == "<=") return a <= b;
    if (op == ">") return a > b;
    return a >= b;
  }

  // --- Edits -----------------------------------------------------------------------------------

  static bool IsEnd(const std::string& key, size_t at) {
    return at == key.size() || key[at] == '.' || key[at] == '/';
  }
  static bool IsStart(const std::string& key, size_t at) {
    return at == 0 || key[at - 1] == '.' || key[at - 1] == '/';
  }
  // Texts of strip end with a separator or reach to the end of a segment.
  static bool EndsSegment(const std::string& key, size_t at) {
    return IsEnd(key, at) || key[at - 1] == '.' || key[at - 1] == '/';
  }

  std::string EditKey(const ast::Statement& edit, const std::string& key) const {
    if (auto* rename = std::get_if<ast::Rename>(&edit.node)) return RenameKey(*rename, key);
    const auto& strip = std::get<ast::Strip>(edit.node);
    std::string text = key;
    bool changed = true;
    while (changed) {
      changed = false;
      for (const ast::Strip::Text& part : strip.texts) {
        const std::optional<std::string> shorter = StripOnce(strip.mode, part.text, text);
        if (!shorter) continue;
        text = *shorter;
        changed = true;
        break;
      }
      const bool repeats =
          strip.mode == ast::Strip::Mode::kAll || strip.mode == ast::Strip::Mode::kAnywhere;
      if (!repeats) break;
    }
    return text;
  }

  static std::optional<std::string> StripOnce(ast::Strip::Mode mode, const std::string& part,
                                              const std::string& key) {
    if (part.size() >= key.size()) return std::nullopt;  // no edit leaves an empty key
    if (mode == ast::Strip::Mode::kSuffix) {
      if (key.compare(key.size() - part.size(), part.size(), part) != 0) return std::nullopt;
      return key.substr(0, key.size() - part.size());
    }
    for (size_t at = 0; at + part.size() <= key.size(); ++at) {
      if (at > 0 && mode != ast::Strip::Mode::kAnywhere) break;
      if (key.compare(at, part.size(), part) != 0) continue;
      if (!IsStart(key, at) || !EndsSegment(key, at + part.size())) continue;
      return key.substr(0, at) + key.substr(at + part.size());
    }
    return std::nullopt;
  }

  std::string RenameKey(const ast::Rename& rename, const std::string& key) const {
    const std::string regex = RegexOf(rename.pattern);
    const bool at_front = rename.pattern.is_regex && rename.pattern.regex.front() == '^';
    const bool at_end = rename.pattern.is_regex && rename.pattern.regex.back() == '$';
    const RE2 re("(" + regex + ")(?:" + (at_end ? "" : "[./]|") + "$)", RE2::Quiet);
    if (!re.ok()) throw Failure("a bad regex");
    std::string out;
    size_t at = 0;
    while (at < key.size()) {
      std::vector<re2::StringPiece> texts(static_cast<size_t>(re.NumberOfCapturingGroups()) + 1);
      const bool tried = IsStart(key, at) && (!at_front || at == 0);
      const bool fits = tried && re.Match(key, at, key.size(), RE2::ANCHOR_START, texts.data(),
                                          static_cast<int>(texts.size()));
      if (!fits || texts[1].empty()) {
        out += key[at++];
        continue;
      }
      size_t first = 2;
      const Bindings own = Bind(rename.pattern, texts, &first);
      out += Print(rename.target, {own}, own);
      at += texts[1].size();
    }
    return out;
  }

  std::map<std::string, Value> values_;
  std::map<std::string, std::map<std::string, std::string>> tables_;
  std::map<std::string, std::string> now_;  // key -> source key
  std::set<std::string> dropped_;
};

}  // namespace rekey::oracle

#endif  // REKEY_TESTS_UNIT_ORACLE_NAIVE_H_
