#pragma once

#include <string>
#include <vector>

// The files that a run reads and writes, checked before any output is opened: a mistake in a name
// shall neither cost a file nor show after hours.
class RunFiles {
 public:
  // option: "--log", or "DATA". An empty name is no file; "-" is standard input or output.
  void reads(const std::string& option, const std::string& name);
  void replaces(const std::string& option, const std::string& name);  // whole, at the end
  void grows(const std::string& option, const std::string& name);     // line by line

  // Throws UsageError if an output is an input too or two outputs are one file, by whatever names;
  // InputError if an output cannot be written. Changes no file and leaves none behind.
  void check() const;

 private:
  enum class Use { kRead, kReplaced, kGrows };
  struct File {
    std::string option;
    std::string name;
    Use use;
  };

  static void refuse_clash(const File& one, const File& other);
  static void try_out(const File& file);

  std::vector<File> files_;
};
