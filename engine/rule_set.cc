#include "engine/rule_set.h"

#include <algorithm>

#include "engine/regex.h"

namespace rekey {

RuleSet::RuleSet(const std::vector<const KeyPattern*>& patterns, int64_t memory)
    : patterns_(patterns) {
  for (size_t i = 0; i < patterns_.size(); ++i) {
    if (patterns_[i]->is_literal) {
      literals_[patterns_[i]->prefix].push_back(static_cast<int>(i));
    } else {
      open_.push_back(static_cast<int>(i));
    }
  }
  if (open_.size() < 2) return;  // a set of one has no advantage
  re2::RE2::Options options = RegexOptions();
  options.set_max_mem(memory);
  auto set = std::make_unique<re2::RE2::Set>(options, re2::RE2::ANCHOR_BOTH);
  for (const int id : open_)
    if (set->Add(patterns_[static_cast<size_t>(id)]->regex, nullptr) < 0) return;
  if (set->Compile()) set_ = std::move(set);
}

void RuleSet::MatchOneByOne(std::string_view key, std::vector<int>* ids) const {
  const re2::StringPiece text(key.data(), key.size());
  for (const int id : open_) {
    const KeyPattern& pattern = *patterns_[static_cast<size_t>(id)];
    if (key.starts_with(pattern.prefix) &&
        pattern.re->Match(text, 0, key.size(), re2::RE2::ANCHOR_BOTH, nullptr, 0))
      ids->push_back(id);
  }
}

void RuleSet::Match(std::string_view key, std::vector<int>* ids) const {
  ids->clear();
  if (set_) {
    re2::RE2::Set::ErrorInfo error{re2::RE2::Set::kNoError};
    if (set_->Match(re2::StringPiece(key.data(), key.size()), ids, &error)) {
      for (int& id : *ids) id = open_[static_cast<size_t>(id)];
    } else {
      ids->clear();
      if (error.kind != re2::RE2::Set::kNoError) MatchOneByOne(key, ids);
    }
  } else {
    MatchOneByOne(key, ids);
  }
  if (!literals_.empty())
    if (const auto same = literals_.find(key); same != literals_.end())
      ids->insert(ids->end(), same->second.begin(), same->second.end());
  if (ids->size() > 1) std::sort(ids->begin(), ids->end());
}

}  // namespace rekey
