#include "engine/merge_groups.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>

namespace rekey {
namespace {

using Members = std::vector<const Membership*>;
using Lists = std::vector<Members>;  // by source

std::string Ticked(std::string_view text) { return "`" + std::string(text) + "`"; }

// `example` with other texts for some of its variables.
std::string Substitute(const Membership& example, const std::vector<std::string_view>& variables) {
  struct Cut {
    size_t begin, size;
    std::string_view text;
  };
  std::vector<Cut> cuts;
  for (size_t v = 0; v < variables.size(); ++v) {
    const std::string_view old = example.variables[v];
    if (old.data() == nullptr || variables[v].data() == nullptr) continue;
    cuts.push_back(
        {static_cast<size_t>(old.data() - example.key.data()), old.size(), variables[v]});
  }
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.begin < b.begin; });
  std::string key;
  size_t done = 0;
  for (const Cut& cut : cuts) {
    if (cut.begin < done) continue;  // a group inside another: the outer one is printed
    key += example.key.substr(done, cut.begin - done);
    key += cut.text;
    done = cut.begin + cut.size;
  }
  return key + std::string(example.key.substr(done));
}

// Builds the tree of one group.
class GroupBuilder {
 public:
  GroupBuilder(const Rule& rule, const std::vector<Membership>& all, const Env& env,
               std::vector<std::string_view> variables)
      : rule_(rule), all_(all), env_(env), variables_(std::move(variables)) {
    env_.variables = &variables_;
    missing_.resize(rule.sources.size());
  }

  PieceTree Build(const Lists& lists) { return Level(0, lists); }

  const Diagnostics& errors() const { return errors_; }
  const std::vector<std::string>& missing() const { return missing_; }  // "": complete
  const std::vector<std::string>& beyond() const { return beyond_; }
  std::vector<uint32_t> items() {
    std::sort(items_.begin(), items_.end());
    return items_;
  }

 private:
  struct Values {
    std::map<int64_t, Lists> lists;
    std::map<int64_t, std::string_view> texts;
  };

  std::optional<int64_t> ValueOf(const Join& join, std::string_view text) const {
    if (!join.words.empty()) {
      const auto word = std::find(join.words.begin(), join.words.end(), text);
      if (word == join.words.end()) return std::nullopt;
      return word - join.words.begin();
    }
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  }

  // Members without the hole stand at every value.
  Values Sort(const Join& join, const Lists& lists, Lists* everywhere) {
    Values values;
    const size_t v = static_cast<size_t>(join.variable);
    everywhere->resize(lists.size());
    for (size_t s = 0; s < lists.size(); ++s) {
      for (const Membership* member : lists[s]) {
        const std::string_view text = member->variables[v];
        if (rule_.sources[s].groups[v] < 0) {
          (*everywhere)[s].push_back(member);
          continue;
        }
        const std::optional<int64_t> value = ValueOf(join, text);
        if (!value) {
          errors_.push_back(Error("merge-index", Ticked(text) + " in " + Ticked(member->key) +
                                                     " is no number that `by` can order")
                                .At(join.span));
          continue;
        }
        const auto [known, fresh] = values.texts.try_emplace(*value, text);
        if (!fresh && known->second != text)
          errors_.push_back(Error("merge-index", "the numbers " + Ticked(known->second) + " and " +
                                                     Ticked(text) + " stand side by side")
                                .At(join.span)
                                .Note(Ticked(member->key) + " has " + Ticked(text))
                                .Help("rename one of them in an earlier pass"));
        Lists& at = values.lists[*value];
        at.resize(lists.size());
        at[s].push_back(member);
      }
    }
    return values;
  }

  // [begin, end) of the join.
  std::optional<std::pair<int64_t, int64_t>> RangeOf(const Join& join, const Values& values) {
    if (!join.words.empty()) return std::pair<int64_t, int64_t>(0, join.words.size());
    if (!join.end) {
      const int64_t last = values.lists.empty() ? 0 : values.lists.rbegin()->first;
      return std::pair<int64_t, int64_t>(0, last == INT64_MAX ? last : last + 1);
    }
    Result<int64_t> begin = join.begin ? join.begin->EvaluateInt(env_) : Result<int64_t>(0);
    Result<int64_t> end = join.end->EvaluateInt(env_);
    if (begin.ok() && end.ok()) return std::pair(*begin, *end);
    errors_.push_back(begin.ok() ? std::move(end).error() : std::move(begin).error());
    return std::nullopt;
  }

  PieceTree Level(size_t level, const Lists& lists) {
    if (level == rule_.by.size()) return List(lists);
    PieceTree tree;
    const Join& join = rule_.by[level];
    Lists everywhere;
    Values values = Sort(join, lists, &everywhere);
    const auto range = RangeOf(join, values);
    if (!range) return tree;
    for (const auto& [value, at] : values.lists)
      if (value < range->first || value >= range->second)
        for (const Members& members : at)
          for (const Membership* member : members)
            beyond_.push_back(Ticked(member->key) + " lies outside " +
                              std::to_string(range->first) + ".." + std::to_string(range->second));
    // Among one value more than there are keys one is missing: no need to walk a huge range.
    const size_t most = values.lists.size() + 1;
    const size_t v = static_cast<size_t>(join.variable);
    const std::string_view outer = variables_[v];
    int64_t value = range->first;
    for (size_t i = 0; i < most && value < range->second; ++i, ++value) {
      Lists at = values.lists.count(value) ? values.lists[value] : Lists(lists.size());
      for (size_t s = 0; s < lists.size(); ++s)
        at[s].insert(at[s].end(), everywhere[s].begin(), everywhere[s].end());
      const std::string text = TextOf(join, values, value);
      variables_[v] = text;
      tree.pieces.push_back(Level(level + 1, at));
      variables_[v] = outer;
    }
    return tree;
  }

  // How the value is or would be written: with the zeros of its neighbours.
  std::string TextOf(const Join& join, const Values& values, int64_t value) const {
    if (!join.words.empty()) return join.words[static_cast<size_t>(value)];
    if (const auto known = values.texts.find(value); known != values.texts.end())
      return std::string(known->second);
    std::string digits = std::to_string(value);
    size_t width =
        static_cast<size_t>(rule_.variables[static_cast<size_t>(join.variable)].min_digits);
    for (const auto& [number, text] : values.texts)
      if (text.size() > 1 && text[0] == '0') width = std::max(width, text.size());
    if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
    return digits;
  }

  PieceTree List(const Lists& lists) {
    PieceTree tree;
    for (size_t s = 0; s < lists.size(); ++s) {
      if (lists[s].empty()) {
        if (missing_[s].empty()) missing_[s] = MissingKey(s);
        continue;
      }
      const bool all = lists.size() == 1 && rule_.by.empty();  // `same` over whatever fits
      if (!all && lists[s].size() > 1)
        errors_.push_back(Error("collision", Ticked(lists[s][0]->key) + " and " +
                                                 Ticked(lists[s][1]->key) +
                                                 " take one place in a merge")
                              .At(rule_.sources[s].span)
                              .Help("give the part in which they differ a name, and join by it"));
      for (const Membership* member : lists[s]) {
        tree.pieces.push_back({member->tensor, member->key, {}});
        items_.push_back(member->item);
        if (!all) break;
      }
    }
    if (lists.size() == 1 && !rule_.by.empty() && tree.pieces.size() == 1) return tree.pieces[0];
    return tree;
  }

  std::string MissingKey(size_t source) const {
    const Membership* example = nullptr;
    for (const Membership& member : all_)
      if (member.source == source) {
        example = &member;
        break;
      }
    if (example) return Substitute(*example, variables_);
    std::string text(rule_.sources[source].span.Text());
    for (const Join& join : rule_.by) {
      const size_t v = static_cast<size_t>(join.variable);
      text += " with " + rule_.variables[v].name + " = " + std::string(variables_[v]);
    }
    return text;
  }

  const Rule& rule_;
  const std::vector<Membership>& all_;
  Env env_;
  std::vector<std::string_view> variables_;
  Diagnostics errors_;
  std::vector<std::string> missing_;
  std::vector<std::string> beyond_;
  std::vector<uint32_t> items_;
};

class Grouper {
 public:
  Grouper(const Rule& rule, const std::vector<Membership>& members, const Env& env)
      : rule_(rule), members_(members), env_(env) {
    for (size_t v = 0; v < rule.variables.size(); ++v) {
      const bool joined = std::any_of(rule.by.begin(), rule.by.end(), [&](const Join& join) {
        return static_cast<size_t>(join.variable) == v;
      });
      const bool anywhere =
          std::any_of(rule.sources.begin(), rule.sources.end(),
                      [&](const KeyPattern& source) { return source.groups[v] >= 0; });
      if (!joined && anywhere && rule.variables[v].name != "_") shared_.push_back(v);
    }
    by_target_ = rule.sources.size() == 1 && rule.by.empty();
  }

  MergeResult Run() {
    FindGroups();
    std::unordered_map<uint32_t, size_t> group_of;
    for (const auto& [first, lists] : groups_) Finish(*first, lists, &group_of);
    // Keys of groups that were never opened, because no key has all the holes.
    for (const Membership& member : members_)
      if (!placed_.count(member.item))
        result_.incomplete.emplace_back(member.item, "nothing to join it to");
    DropClaimed(group_of);
    return std::move(result_);
  }

 private:
  bool IsFull(const Membership& member) const {
    return std::all_of(shared_.begin(), shared_.end(),
                       [&](size_t v) { return rule_.sources[member.source].groups[v] >= 0; });
  }

  // The shared holes of `member` that source `like` has, as one text.
  std::string Tuple(const Membership& member, size_t like) const {
    std::string tuple;
    for (const size_t v : shared_) {
      if (rule_.sources[like].groups[v] < 0) continue;
      const std::string_view text = member.variables[v];
      tuple += std::to_string(text.size()) + ":";
      tuple += text;
    }
    return tuple;
  }

  std::string Name(const Membership& member) {
    if (!by_target_) return Tuple(member, member.source);
    Env env = env_;
    env.variables = &member.variables;
    std::string target;
    if (Status printed = rule_.targets[0].Print(env, &target); !printed.ok())
      result_.errors.push_back(std::move(printed).error());
    return target;
  }

  void FindGroups() {
    std::unordered_map<std::string, size_t> known;
    std::vector<std::unordered_map<std::string, Members>> partial(rule_.sources.size());
    for (const Membership& member : members_) {
      if (!IsFull(member)) {
        partial[member.source][Tuple(member, member.source)].push_back(&member);
        continue;
      }
      const auto [at, fresh] = known.try_emplace(Name(member), groups_.size());
      if (fresh) groups_.push_back({&member, Lists(rule_.sources.size())});
      groups_[at->second].second[member.source].push_back(&member);
    }
    for (auto& [first, lists] : groups_)
      for (size_t s = 0; s < lists.size(); ++s)
        if (const auto some = partial[s].find(Tuple(*first, s)); some != partial[s].end())
          lists[s].insert(lists[s].end(), some->second.begin(), some->second.end());
  }

  void Finish(const Membership& first, const Lists& lists,
              std::unordered_map<uint32_t, size_t>* group_of) {
    for (const Members& members : lists)
      for (const Membership* member : members) placed_.emplace(member->item, 0);
    GroupBuilder builder(rule_, members_, env_, first.variables);
    MergeGroup group;
    group.tree = builder.Build(lists);
    group.variables = first.variables;
    const std::vector<std::string>& missing = builder.missing();
    const auto lack = std::find_if(missing.begin(), missing.end(),
                                   [](const std::string& key) { return !key.empty(); });
    const bool whole = lack == missing.end();
    const bool some = std::find(missing.begin(), missing.end(), "") != missing.end();
    if (!builder.errors().empty()) {
      result_.errors.insert(result_.errors.end(), builder.errors().begin(), builder.errors().end());
      return;
    }
    if (!whole && (rule_.by.empty() || (rule_.sources.size() > 1 && !some))) {
      for (const Members& members : lists)
        for (const Membership* member : members)
          result_.incomplete.emplace_back(member->item, "the group lacks " + Ticked(*lack));
      return;
    }
    if (!whole) return Gap(first, lists, missing, builder.beyond());
    if (!builder.beyond().empty()) return Beyond(builder.beyond());
    group.items = builder.items();
    Env env = env_;
    env.variables = &group.variables;
    if (Status printed = rule_.targets[0].Print(env, &group.target); !printed.ok()) {
      result_.errors.push_back(std::move(printed).error());
      return;
    }
    if (Twice(group, group_of)) return;
    result_.groups.push_back(std::move(group));
  }

  // One key in two groups, or twice in one.
  bool Twice(const MergeGroup& group, std::unordered_map<uint32_t, size_t>* group_of) {
    for (size_t i = 0; i < group.items.size(); ++i) {
      const bool again = i > 0 && group.items[i] == group.items[i - 1];
      const auto [known, fresh] = group_of->try_emplace(group.items[i], result_.groups.size());
      if (fresh && !again) continue;
      std::string key;
      for (const Membership& member : members_)
        if (member.item == group.items[i]) key = member.key;
      Diagnostic error = Error("collision", Ticked(key) + " would be merged twice");
      error.At(rule_.line);
      error.Note(again || known->second >= result_.groups.size()
                     ? "both times into " + Ticked(group.target)
                     : "into " + Ticked(result_.groups[known->second].target) + " and into " +
                           Ticked(group.target));
      result_.errors.push_back(std::move(error));
      return true;
    }
    return false;
  }

  void Gap(const Membership& first, const Lists& lists, const std::vector<std::string>& missing,
           const std::vector<std::string>& beyond) {
    size_t present = 0;
    for (const Members& members : lists) present += members.size();
    std::string keys;
    for (const std::string& key : missing)
      if (!key.empty()) keys += (keys.empty() ? "" : " and ") + Ticked(key);
    Diagnostic error = Error("merge-gap", "the merge lacks " + keys).At(rule_.line);
    error.Note(Ticked(first.key) + " and " + std::to_string(present - 1) +
               " more keys of its group are there");
    for (size_t i = 0; i < beyond.size() && i < 3; ++i) error.Note(beyond[i]);
    result_.errors.push_back(std::move(error));
  }

  void Beyond(const std::vector<std::string>& beyond) {
    Diagnostic error =
        Error("merge-range", beyond[0] + ", the range that the merge joins").At(rule_.line);
    if (beyond.size() > 1)
      error.Note(std::to_string(beyond.size() - 1) + " more keys of its group do too");
    error.Help("correct the range, or drop the keys in an earlier rule");
    result_.errors.push_back(std::move(error));
  }

  // A key that some group took is not incomplete, whatever else it fits.
  void DropClaimed(const std::unordered_map<uint32_t, size_t>& group_of) {
    auto& keys = result_.incomplete;
    std::stable_sort(keys.begin(), keys.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    keys.erase(std::unique(keys.begin(), keys.end(),
                           [](const auto& a, const auto& b) { return a.first == b.first; }),
               keys.end());
    keys.erase(std::remove_if(keys.begin(), keys.end(),
                              [&](const auto& key) { return group_of.count(key.first) > 0; }),
               keys.end());
  }

  const Rule& rule_;
  const std::vector<Membership>& members_;
  const Env& env_;
  std::vector<size_t> shared_;  // variables on which members are joined
  bool by_target_ = false;
  std::vector<std::pair<const Membership*, Lists>> groups_;
  std::unordered_map<uint32_t, int> placed_;
  MergeResult result_;
};

}  // namespace

MergeResult GroupMembers(const Rule& rule, const std::vector<Membership>& members, const Env& env) {
  return Grouper(rule, members, env).Run();
}

}  // namespace rekey
