// Random key-level programs and keys that they are likely to fit.
//
// Patterns are made from keys that stand at that point of the program: some segments become holes,
// regex groups or words, some stay. A fixed seed gives the same program on every machine: no
// distributions of the standard library, whose results are not specified.
#ifndef REKEY_TESTS_UNIT_ORACLE_RANDOM_PROGRAM_H_
#define REKEY_TESTS_UNIT_ORACLE_RANDOM_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace rekey::oracle {

// splitmix64.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  size_t Below(size_t n) { return static_cast<size_t>(Next() % n); }
  bool Percent(size_t chance) { return Below(100) < chance; }
  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[Below(items.size())];
  }

 private:
  uint64_t state_;
};

inline std::vector<std::string> RandomKeys(Dice& dice) {
  static const std::vector<std::string> fronts = {
      "", "", "", "module.", "_orig_mod.", "module._orig_mod.", "a/b.", "model."};
  static const std::vector<std::string> segments = {
      "layers",  "layer_3",    "layer_12", "conv_1", "conv_2", "attn",   "self_attn", "mlp",
      "0",       "1",          "2",        "10",     "007",    "012",    "norm",      "module",
      "block_0", "mlp_module", "x",        "a",      "b",      "encoder"};
  static const std::vector<std::string> ends = {"weight", "bias", "gamma", "beta", "kernel:0", "w"};
  std::set<std::string> seen;
  std::vector<std::string> keys;
  const size_t count = 1 + dice.Below(14);
  while (keys.size() < count) {
    std::string key = dice.Pick(fronts);
    // Few shapes with many numbers, so that one rule takes several keys.
    const size_t middle = dice.Below(4);
    for (size_t i = 0; i < middle; ++i) {
      key += dice.Pick(segments) + (dice.Percent(85) ? "." : "/");
    }
    key += dice.Pick(ends);
    if (seen.insert(key).second) keys.push_back(key);
    if (dice.Percent(40) && middle > 0) {  // a sibling
      std::string other = key;
      for (char& c : other) {
        if (c >= '0' && c <= '3' && dice.Percent(50)) c = static_cast<char>('0' + dice.Below(4));
      }
      if (seen.insert(other).second) keys.push_back(other);
    }
  }
  return keys;
}

class ProgramWriter {
 public:
  // `keys_after` gives the keys that a program, so far, turns the start keys into.
  using KeysAfter = std::function<std::vector<std::string>(const std::string& program)>;

  ProgramWriter(Dice& dice, KeysAfter keys_after)
      : dice_(dice), keys_after_(std::move(keys_after)) {}

  std::string Write() {
    text_ = "param n = " + std::to_string(dice_.Below(5)) + "\nlet m = n * 2 + 1\n";
    text_ += "table norm { gamma = weight, beta = bias }\n";
    text_ += "table first { 0 = 0, 1 = 7, 2 = 15 }\n";
    const size_t passes = 1 + (dice_.Percent(40) ? 1 + dice_.Below(2) : 0);
    for (size_t p = 0; p < passes; ++p) {
      if (p > 0) text_ += dice_.Percent(50) ? "then\n" : "then \"next\"\n";
      if (!WritePass()) break;
    }
    return text_;
  }

 private:
  struct Hole {
    std::string name;  // or "\\1"
    enum class Kind { kInt, kText, kAny, kNorm, kFirst, kGroup, kIntGroup } kind;
  };

  // A piece of a key and what stands for it in a pattern and, unchanged, in a target.
  struct Piece {
    std::string pattern;
    std::string target;
    bool has_hole = false;
    Hole hole = {};
  };

  bool WritePass() {
    for (size_t edits = dice_.Below(3); edits > 0; --edits) {
      keys_ = keys_after_(text_);
      if (keys_.empty()) return false;
      WriteEdit();
    }
    keys_ = keys_after_(text_);
    if (keys_.empty()) return false;
    const size_t rules = dice_.Below(5);
    for (size_t i = 0; i < rules; ++i) {
      if (dice_.Percent(22)) {
        WriteScope();
      } else {
        holes_.clear();
        WriteRule("", Cut(dice_.Pick(keys_)), false);
      }
    }
    const size_t otherwise = dice_.Below(10);
    if (otherwise == 0 && rules > 0) text_ += "else drop\n";
    if (otherwise == 1) text_ += "else error \"left over\"\n";
    if (otherwise == 2) text_ += "else pass\n";
    if (dice_.Percent(15)) text_ += "prefix pre.\n";
    if (dice_.Percent(10)) text_ += "suffix \".end\"\n";
    return true;
  }

  // "a.b/c" -> "a" "." "b" "/" "c".
  static std::vector<std::string> Cut(const std::string& key) {
    std::vector<std::string> parts(1);
    for (char c : key) {
      if (c == '.' || c == '/') {
        parts.push_back(std::string(1, c));
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    return parts;
  }

  // --- Edits -----------------------------------------------------------------------------------

  void WriteEdit() {
    const std::vector<std::string> parts = Cut(dice_.Pick(keys_));
    if (dice_.Percent(40)) return WriteRename(parts);
    if (parts.size() < 3) return;
    const std::string maybe = dice_.Percent(30) ? "?" : "";
    if (dice_.Percent(15)) {
      text_ += "strip" + maybe + " suffix \"" + parts[parts.size() - 2] + parts.back() + "\"\n";
      return;
    }
    if (dice_.Percent(10)) {
      text_ += "strip" + maybe + " suffix \":0\"\n";
      return;
    }
    const size_t at = dice_.Percent(60) ? 0 : 2 * dice_.Below(parts.size() / 2);
    const std::string one = parts[at] + parts[at + 1];
    switch (dice_.Below(3)) {
      case 0:
        text_ += "strip" + maybe + " \"" + one +
                 (parts.size() > 4 && dice_.Percent(30) ? parts[2] + parts[3] : "") + "\"" +
                 (dice_.Percent(30) ? " \"module.\"" : "") + "\n";
        break;
      case 1:
        text_ += "strip" + maybe + " all \"" + one + "\" \"module.\"\n";
        break;
      default:
        text_ += "strip" + maybe + " anywhere \"" + one + "\" \"_orig_mod.\"\n";
    }
  }

  void WriteRename(const std::vector<std::string>& parts) {
    const std::string maybe = dice_.Percent(30) ? "?" : "";
    const size_t at = 2 * dice_.Below((parts.size() + 1) / 2);
    const std::string& segment = parts[at];
    if (segment.empty()) return;
    switch (dice_.Below(6)) {
      case 0:
        if (at + 2 < parts.size()) {
          text_ +=
              "rename" + maybe + ' ' + segment + parts[at + 1] + parts[at + 2] + " -> joined\n";
          return;
        }
        [[fallthrough]];
      case 1:
        text_ += "rename" + maybe + ' ' + segment + " -> new." + segment + "\n";
        return;
      case 2:
        text_ += "rename? layer_{i:int} -> layer.{i}\n";
        return;
      case 3:
        text_ += "rename? /(conv|block)_(\\d+)/ -> \\1.{\\2 + 1}\n";
        return;
      case 4:
        text_ += "rename? {i:int} -> n{i + m}\n";
        return;
      default:
        text_ += dice_.Percent(50) ? "rename? /^(module|model)/ -> top\n"
                                   : "rename? {w:norm} -> {norm(w)}\n";
    }
  }

  // --- Rules -----------------------------------------------------------------------------------

  static bool IsDigits(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  }

  std::string NewName() {
    return std::string(1, "ijkpqrstuvxyz"[holes_.size() % 13]) + (holes_.size() >= 13 ? "2" : "");
  }

  Piece Remember(std::string pattern, std::string target, Hole hole) {
    holes_.push_back(hole);
    return {std::move(pattern), std::move(target), true, std::move(hole)};
  }

  Piece HolePiece(const std::string& kind, Hole::Kind type) {
    const std::string name = NewName();
    return Remember("{" + name + kind + "}", "{" + name + "}", {name, type});
  }

  // What stands for one segment in a bare pattern.
  std::vector<Piece> Generalise(const std::string& segment) {
    const size_t underscore = segment.find_last_of('_');
    const bool numbered =
        underscore != std::string::npos && IsDigits(segment.substr(underscore + 1));
    if (segment == "0" || segment == "1" || segment == "2") {
      if (dice_.Percent(20)) return {HolePiece(":first", Hole::Kind::kFirst)};
      if (dice_.Percent(20)) return {HolePiece(":0|1|2|10", Hole::Kind::kInt)};
    }
    if (IsDigits(segment) && segment.size() == 3 && dice_.Percent(50)) {
      return {HolePiece(":03", Hole::Kind::kInt)};
    }
    if (IsDigits(segment) && dice_.Percent(85)) return {HolePiece(":int", Hole::Kind::kInt)};
    if ((segment == "gamma" || segment == "beta") && dice_.Percent(60)) {
      return {HolePiece(":norm", Hole::Kind::kNorm)};
    }
    if (numbered && dice_.Percent(60)) {
      const std::string front = segment.substr(0, underscore + 1);
      return {{front, front}, HolePiece(":int", Hole::Kind::kInt)};
    }
    switch (dice_.Below(5)) {
      case 0:
        return {HolePiece(":" + segment + "|weight|attn" + (segment == "x" ? "" : "|x"),
                          Hole::Kind::kText)};
      case 1:
        return {Piece{"{_}", "any", false, {}}};
      case 2:
        return {HolePiece(":any", Hole::Kind::kAny)};
      default:
        return {HolePiece("", Hole::Kind::kText)};
    }
  }

  std::vector<Piece> BarePattern(const std::vector<std::string>& parts) {
    std::vector<Piece> pieces;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i % 2 == 1 || parts[i].empty() || dice_.Percent(45)) {
        pieces.push_back({parts[i], parts[i]});
        continue;
      }
      // A run of several segments.
      if (dice_.Percent(15)) {
        pieces.push_back(HolePiece(":any", Hole::Kind::kAny));
        i += 2 * dice_.Below((parts.size() - i + 1) / 2);
        continue;
      }
      for (Piece& piece : Generalise(parts[i])) pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  static std::string Escape(const std::string& text) {
    std::string escaped;
    for (char c : text) {
      if (c == '.' || c == '/') escaped += '\\';
      escaped += c;
    }
    return escaped;
  }

  Piece GroupPiece(const std::string& regex, Hole::Kind kind) {
    const std::string name = "\\" + std::to_string(++groups_);
    return Remember(regex, name, {name, kind});
  }

  std::vector<Piece> RegexPattern(const std::vector<std::string>& parts) {
    std::vector<Piece> pieces;
    groups_ = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i % 2 == 1 || dice_.Percent(45) || groups_ >= 8) {
        pieces.push_back({Escape(parts[i]), parts[i]});
      } else if (IsDigits(parts[i])) {
        if (dice_.Percent(20)) {
          const std::string name = NewName();
          ++groups_;
          pieces.push_back(
              Remember("(?P<" + name + ">\\d+)", "{" + name + "}", {name, Hole::Kind::kIntGroup}));
        } else {
          pieces.push_back(GroupPiece("(\\d+)", Hole::Kind::kIntGroup));
        }
      } else if (dice_.Percent(20)) {
        pieces.push_back(GroupPiece("(" + parts[i] + "|attn|norm)", Hole::Kind::kGroup));
      } else if (dice_.Percent(15)) {
        pieces.push_back({Escape(parts[i]), parts[i]});
        pieces.push_back(GroupPiece("(_\\d+)?", Hole::Kind::kGroup));
      } else if (dice_.Percent(15)) {
        pieces.push_back(GroupPiece("(.+)", Hole::Kind::kGroup));
      } else {
        pieces.push_back(GroupPiece("([^.\\/]+)", Hole::Kind::kGroup));
      }
    }
    return pieces;
  }

  // A hole in a target: as it is, or in an expression.
  std::string Use(const Piece& piece) {
    const Hole& hole = piece.hole;
    const std::string& name = hole.name;
    switch (hole.kind) {
      case Hole::Kind::kInt:
      case Hole::Kind::kIntGroup:
        switch (dice_.Below(12)) {
          case 0:
            return "{" + name + " + 1}";
          case 1:
            return "{" + name + " * 2 + n}";
          case 2:
            return "{" + name + " - 1}";  // below 0 now and then
          case 3:
            return "{(" + name + " + 4) // 3}.{" + name + " % 3}";
          case 4:
            return "{" + name + ":03}";
          case 5:
            return "{(" + name + " + m) / 1}";
          case 6:
            return dice_.Percent(30) ? "{" + name + " / 2}" : piece.target;
          default:
            return piece.target;
        }
      case Hole::Kind::kNorm:
        return dice_.Percent(70) ? "{norm(" + name + ")}" : piece.target;
      case Hole::Kind::kFirst:
        return dice_.Percent(70) ? "{first(" + name + ") + n}" : piece.target;
      case Hole::Kind::kAny:
        if (dice_.Percent(15)) return "{dots(" + name + ")}";
        if (dice_.Percent(10)) return "{slashes(" + name + ")}";
        return piece.target;
      default:
        return piece.target;
    }
  }

  std::string Target(std::vector<Piece> pieces) {
    std::string target;
    for (const Piece& piece : pieces) {
      if (piece.has_hole) {
        if (!dice_.Percent(4)) target += Use(piece);
      } else if (piece.target == "." || piece.target == "/") {
        target += dice_.Percent(8) ? "/" : piece.target;
      } else {
        target += dice_.Percent(20) ? "t" + std::to_string(dice_.Below(3)) + "x" : piece.target;
      }
    }
    return target;
  }

  std::string Guard() {
    std::vector<std::string> ints;
    std::vector<std::string> texts;
    for (const Hole& hole : holes_) {
      if (hole.kind == Hole::Kind::kInt || hole.kind == Hole::Kind::kIntGroup) {
        ints.push_back(hole.name);
      }
      if (hole.kind == Hole::Kind::kText) texts.push_back(hole.name);
    }
    const std::string key = dice_.Pick(keys_);
    switch (dice_.Below(6)) {
      case 0:
        return dice_.Percent(50) ? " if n > 1" : " if not (m == 3 or n >= 4)";
      case 1:
        return std::string(" if ") + (dice_.Percent(50) ? "not " : "") + "has(" + key + ")";
      case 2:
        if (!texts.empty()) return " if " + dice_.Pick(texts) + " != \"attn\"";
        [[fallthrough]];
      case 3:
        if (!texts.empty()) return " if has({" + dice_.Pick(texts) + "}.weight) or n == 2";
        [[fallthrough]];
      default:
        if (ints.empty()) return "";
        const std::string name = dice_.Pick(ints);
        switch (dice_.Below(4)) {
          case 0:
            return " if " + name + " >= 2";
          case 1:
            return " if " + name + " % 2 == 0 and n < 4";
          case 2:
            return " if " + name + " - n < 1";
          default:
            return " if " + name + " != 1";
        }
    }
  }

  // A rule for a key or, in a scope, for the rest of one.
  void WriteRule(const std::string& indent, const std::vector<std::string>& parts,
                 bool scope_renames) {
    const bool regex = dice_.Percent(30);
    const std::vector<Piece> pieces = regex ? RegexPattern(parts) : BarePattern(parts);
    std::string pattern;
    for (const Piece& piece : pieces) pattern += piece.pattern;
    if (pattern.empty()) return;
    if (regex) {
      pattern = "/" + pattern + "/";
    } else if (dice_.Percent(15) || pattern[0] == '/') {
      pattern = '"' + pattern + '"';
    }
    const std::string maybe = dice_.Percent(20) ? "?" : "";
    const std::string guard = dice_.Percent(30) ? Guard() : "";
    const size_t verb = dice_.Below(10);
    if (verb < 2) {
      text_ += indent + "drop" + maybe + ' ' + pattern + guard + "\n";
    } else if (verb < 4 && !scope_renames) {
      text_ += indent + "keep" + maybe + ' ' + pattern + guard + "\n";
    } else {
      const std::string target = Target(pieces);
      text_ += indent + "map" + maybe + ' ' + pattern + " -> " + Quoted(target) + guard + "\n";
    }
  }

  std::string Quoted(const std::string& target) {
    return target.empty() || target[0] == '/' || dice_.Percent(15) ? '"' + target + '"' : target;
  }

  void WriteScope() {
    holes_.clear();
    const std::vector<std::string> parts = Cut(dice_.Pick(keys_));
    if (parts.size() < 3) return;
    const size_t cut = 2 + 2 * dice_.Below(parts.size() / 2);
    const std::vector<std::string> front(parts.begin(), parts.begin() + static_cast<long>(cut));
    const std::vector<std::string> rest(parts.begin() + static_cast<long>(cut), parts.end());
    const bool regex = dice_.Percent(25);
    const std::vector<Piece> pieces = regex ? RegexPattern(front) : BarePattern(front);
    std::string pattern;
    for (const Piece& piece : pieces) pattern += piece.pattern;
    if (pattern.empty() || (!regex && pattern[0] == '/')) return;
    const bool renames = regex || dice_.Percent(65);
    text_ += "in " + (regex ? "/" + pattern + "/" : pattern);
    if (renames) text_ += " -> " + (dice_.Percent(20) ? "\"\"" : Quoted(Target(pieces)));
    if (dice_.Percent(20)) text_ += Guard();
    text_ += " {\n";
    // A rule's own regex counts its groups anew: those of the scope have no name in it.
    std::erase_if(holes_, [](const Hole& hole) { return hole.name[0] == '\\'; });
    const std::vector<Hole> outer = holes_;
    for (size_t rules = 1 + dice_.Below(3); rules > 0; --rules) {
      holes_ = outer;
      WriteRule("  ", rest, renames);
    }
    text_ += "}\n";
  }

  Dice& dice_;
  KeysAfter keys_after_;
  std::string text_;
  std::vector<std::string> keys_;  // that stand at this point
  std::vector<Hole> holes_;        // of the rule at hand and its scope
  int groups_ = 0;
};

}  // namespace rekey::oracle

#endif  // REKEY_TESTS_UNIT_ORACLE_RANDOM_PROGRAM_H_
