#pragma once

#include <string>

#include "headwater/io/files/file_descriptor.hpp"

// Keeps other processes of this program from writing the same file while this object lives. The
// file itself is replaced again and again, so the lock is on a hidden file beside it, which goes
// with this object.
class FileLock {
 public:
  // Throws InputError if another process has the lock. Devices and pipes are not locked.
  explicit FileLock(const std::string& name);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { release(); }

  void release();

 private:
  std::string path_;  // empty if there is no lock
  headwater::FileDescriptor file_;
};

// Locks an open file until it is closed. Throws InputError if another process has locked it; file
// systems without locks are taken as they are.
void lock_file(const headwater::FileDescriptor& file, const std::string& name);
