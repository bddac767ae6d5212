// What the fuzz targets share.
#pragma once
#include "base/diagnostic.h"

namespace tercet {

/// A user's error is a good answer; anything else ends the process.
template <class F> void try_it(F f) {
  try {
    f();
  } catch (const Failure& failure) {
    TERCET_CHECK(failure.diagnostics().front().kind != Kind::Internal);
  }
}

}  // namespace tercet
