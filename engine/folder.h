// The files of a checkpoint folder: which there are, in what order, and which of them others name.
//
// It knows file names and the two small files by which training programs name their newest
// checkpoint; it opens no checkpoint. Names are relative to the folder, with '/'. Hidden files and
// folders are left out, symbolic links to files are followed (the Hugging Face cache is made of
// them), links to folders are not.
//
//   Result<std::vector<std::string>> names = ListFiles("iter_0000100", Depth::kAll);
//   // {"mp_rank_00/model_optim_rng.pt", "mp_rank_01/model_optim_rng.pt"}
#ifndef REKEY_ENGINE_FOLDER_H_
#define REKEY_ENGINE_FOLDER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace rekey {

enum class Depth { kTop, kAll };

// Order of names with runs of digits compared as numbers: rank 9, then rank 10.
bool NaturalLess(std::string_view a, std::string_view b);

// Regular files in natural order. An error if the folder cannot be read.
Result<std::vector<std::string>> ListFiles(const std::string& folder, Depth depth);

// Folders at the top, in natural order; none if it cannot be read.
std::vector<std::string> ListFolders(const std::string& folder);

std::string JoinPath(const std::string& folder, std::string_view name);

// Names that a file gives for others (an index, `latest`) must stay in its folder: not empty, not
// absolute, no `..`, no drive letter, no NUL. What is wrong, or nothing.
std::optional<std::string> LeavesFolder(std::string_view name);

// What `latest_checkpointed_iteration.txt` (Megatron: a number N for `iter_%07d`, or `release`) or
// `latest` (DeepSpeed: a folder's name) in the folder leads to: a path that exists, or nothing when
// neither is there. Errors: it is not such a text, leads out of the folder, or to nothing.
Result<std::optional<std::string>> NewestCheckpoint(const std::string& folder);

}  // namespace rekey

#endif  // REKEY_ENGINE_FOLDER_H_
