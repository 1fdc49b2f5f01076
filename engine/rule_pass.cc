#include "engine/rule_pass.h"

#include <string>
#include <utility>

#include "engine/claims.h"
#include "engine/edit.h"
#include "engine/key_index.h"
#include "engine/use_lints.h"

namespace rekey {
namespace {

constexpr size_t kMostCollisions = 5;

class PassRunner {
 public:
  PassRunner(Journey* journey, int number)
      : journey_(journey),
        number_(number),
        pass_(journey->program.passes[static_cast<size_t>(number)]) {}

  std::vector<LiveKey> Run(std::vector<LiveKey> keys) {
    for (uint32_t i = 0; i < keys.size(); ++i) {
      keys[i].place = i;
      keys[i].edit = -1;
    }
    if (!Edits(&keys)) return keys;
    Claims claims(journey_, number_, keys);
    std::vector<LiveKey> out = claims.Run();
    LintRules(journey_, number_, keys, claims.fits());
    ReportRefused(journey_, number_, keys, claims.refused());
    Affixes(&out);
    if (!pass_.rules.empty()) FindCollisions(out, [&](const LiveKey& key) { return MadeBy(key); });
    return out;
  }

 private:
  // Where a key got its name from in this pass, for a collision.
  std::pair<Span, std::string> MadeBy(const LiveKey& key) const {
    const std::string source = journey_->SourceName(key.tensor);
    if (key.by.pass == number_ && key.by.rule >= 0 && key.claimed)
      return {pass_.rules[static_cast<size_t>(key.by.rule)].line, "makes it of " + source};
    if (key.edit >= 0)
      return {pass_.edits[static_cast<size_t>(key.edit)].span, "makes it of " + source};
    return {pass_.else_span, source + " passes unchanged"};
  }

  bool Edits(std::vector<LiveKey>* keys) {
    if (pass_.edits.empty()) return true;
    const size_t errors = journey_->out.diagnostics.size();
    const Editor editor(pass_.edits);
    std::vector<std::string_view> edited;
    edited.reserve(keys->size());
    for (LiveKey& key : *keys) edited.push_back(Edited(editor, &key));
    FinishEmptySegments();
    LintEdits(journey_, number_, *keys);
    bool changed = false;
    for (size_t i = 0; i < keys->size(); ++i) {
      LiveKey& key = (*keys)[i];
      if (key.edit < 0) continue;
      changed = true;
      key.key = edited[i];
      journey_->Touch(key.tensor);
    }
    if (changed) FindCollisions(*keys, [&](const LiveKey& key) { return MadeBy(key); });
    for (size_t i = errors; i < journey_->out.diagnostics.size(); ++i)
      if (journey_->out.diagnostics[i].severity == Severity::kError) return false;
    return true;
  }

  // The key after all edits: a part of it, or a text that stays.
  std::string_view Edited(const Editor& editor, LiveKey* key) {
    std::vector<EditUse>& uses = journey_->out.edits[static_cast<size_t>(number_)];
    std::string_view now = key->key;
    for (size_t i = 0; i < editor.size(); ++i) {
      std::string* scratch = IsIn(now, scratch_[0]) ? &scratch_[1] : &scratch_[0];
      Result<std::string_view> next = editor.Apply(i, now, scratch);
      if (!next.ok()) {
        journey_->AddError(std::move(next).error().Note("for " + Quoted(now)));
        break;
      }
      if (*next == now) continue;
      ++uses[i].touched;
      key->edit = static_cast<int>(i);
      Changed(i, *key, now, *next);
      now = *next;
    }
    if (IsIn(now, scratch_[0]) || IsIn(now, scratch_[1])) return journey_->out.text->Add(now);
    return now;
  }

  static bool IsIn(std::string_view text, const std::string& buffer) {
    return text.data() >= buffer.data() && text.data() < buffer.data() + buffer.size();
  }

  void Changed(size_t edit, const LiveKey& key, std::string_view from, std::string_view to) {
    if (journey_->IsWatched(key.tensor))
      journey_->Record({Event::Kind::kEdit, number_, pass_.edits[edit].span, std::string(from),
                        std::string(to), ""});
    if (!HasEmptySegment(to) || HasEmptySegment(from)) return;
    if (empty_.count(edit) == 0) empty_[edit] = {0, std::string(from), std::string(to)};
    ++empty_[edit].count;
  }

  void FinishEmptySegments() {
    for (const auto& [edit, found] : empty_) {
      Diagnostic lint =
          Warning("empty-segment", "this edit leaves a segment empty: " + Quoted(found.from) +
                                       " becomes " + Quoted(found.to))
              .At(pass_.edits[edit].span);
      if (found.count > 1) lint.Note("the same in " + CountKeys(found.count - 1) + " more");
      lint.Help("take the separator into the text, as in `strip \"module.\"`");
      journey_->Add(std::move(lint));
    }
  }

  void Affixes(std::vector<LiveKey>* keys) {
    if (pass_.affixes.empty()) return;
    std::string front, back;
    for (const Affix& affix : pass_.affixes) {
      if (affix.suffix) {
        back += affix.text;
      } else {
        front = affix.text + front;
      }
    }
    std::string text;
    for (LiveKey& key : *keys) {
      text.assign(front).append(key.key).append(back);
      const std::string_view now = journey_->out.text->Add(text);
      if (journey_->IsWatched(key.tensor))
        journey_->Record(
            {Event::Kind::kAffix, number_, pass_.affixes[0].span, std::string(key.key), text, ""});
      key.key = now;
      journey_->Touch(key.tensor);
    }
  }

  template <typename Origin>
  void FindCollisions(const std::vector<LiveKey>& keys, const Origin& origin) {
    KeyIndex index(keys.size());
    std::vector<uint32_t> hashes;
    hashes.reserve(keys.size());
    for (const LiveKey& key : keys) hashes.push_back(KeyIndex::Hash(key.key));
    constexpr uint32_t kAhead = 12;
    size_t found = 0;
    for (uint32_t i = 0; i < keys.size(); ++i) {
      if (i + kAhead < keys.size()) index.Prefetch(hashes[i + kAhead]);
      const auto other = index.Add(keys[i].key, hashes[i], i);
      if (!other) continue;
      if (++found > kMostCollisions) continue;
      const auto [span, how] = origin(keys[i]);
      const auto [other_span, other_how] = origin(keys[*other]);
      Diagnostic error =
          Error("collision", Quoted(keys[i].key) + " would come from " +
                                 journey_->SourceName(keys[*other].tensor) + " and from " +
                                 journey_->SourceName(keys[i].tensor));
      if (span) {
        error.At(span, how);
      } else {
        error.Note(how);
      }
      if (!other_span || (other_span.source == span.source && other_span.begin == span.begin)) {
        error.Note(other_how);
      } else if (!span) {
        error.At(other_span, other_how);
      } else {
        error.Also(other_span, other_how);
      }
      error.Help("drop one of them in an earlier rule, or give them different names");
      journey_->Add(std::move(error));
    }
    if (found > kMostCollisions)
      journey_->out.diagnostics.back().Note("and " + std::to_string(found - kMostCollisions) +
                                            " more collisions");
  }

  struct Emptied {
    uint64_t count = 0;
    std::string from, to;
  };
  Journey* journey_;
  int number_;
  const Pass& pass_;
  std::map<size_t, Emptied> empty_;  // by edit
  std::string scratch_[2];
};

}  // namespace

std::vector<LiveKey> RunPass(Journey* journey, int pass, std::vector<LiveKey> keys) {
  return PassRunner(journey, pass).Run(std::move(keys));
}

}  // namespace rekey
