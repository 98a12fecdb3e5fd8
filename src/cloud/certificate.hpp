// The certificate of tts-local's TLS port: a CA of its own and a leaf for this machine, made at first start.
//
// The CA's private key is forgotten once the leaf is signed, so nobody can make another certificate that its
// users trust; when the leaf runs out, or lacks a name that is needed now, both are made anew (and have to be
// trusted again). Files: FOLDER/ca.pem (0644, to be trusted), FOLDER/server.pem and FOLDER/server-key.pem
// (0600). Not thread safe. Errors: kIo, kInternal. Source: RFC 5280; official clients refuse a CA as end
// entity and want subjectAltName.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::cloud {

struct CertificateFiles {
  std::string ca, server, key;  // paths
};

CertificateFiles certificate_files(const std::string& folder);  // where they are, whether or not made yet
// `names`: host names and addresses for the leaf besides localhost, 127.0.0.1 and ::1.
base::Result<CertificateFiles> ensure_certificate(const std::string& folder,
                                                  const std::vector<std::string>& names, base::WallTime now);

}  // namespace headroom::cloud
