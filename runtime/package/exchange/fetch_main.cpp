// allot-fetch ADDRESS MOST_BYTES SECONDS: the bytes at an address, on stdout. A program of its own, so that `allot` links
// neither libcurl nor TLS. SSL_CERT_FILE names the certificates that are trusted in place of the machine's. Exit status: 0 got, 1 not, with one line on stderr.
#include <curl/curl.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

struct Body {
  std::string bytes;
  std::size_t most = 0;
  bool too_large = false;
};

std::size_t take(char* bytes, std::size_t, std::size_t count, void* body_pointer) {
  Body& body = *static_cast<Body*>(body_pointer);
  if (body.bytes.size() + count > body.most) {
    body.too_large = true;
    return 0;
  }
  body.bytes.append(bytes, count);
  return count;
}

int fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  return 1;
}

// Hosts that are asked without a proxy: this machine, and those that the environment names, as curl reads it.
std::string without_proxy() {
  const std::string own = "127.0.0.1,localhost,::1";
  for (const char* const name : {"no_proxy", "NO_PROXY"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::string(value) == "*" ? "*" : own + "," + value;
  }
  return own;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return fail("usage: allot-fetch ADDRESS MOST_BYTES SECONDS");
  struct Clean {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };
  const std::unique_ptr<CURL, Clean> owner(curl_easy_init());
  CURL* const curl = owner.get();
  if (curl == nullptr) return fail("libcurl cannot be started");
  Body body;
  body.most = std::strtoull(words[2], nullptr, 10);
  char problem[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl, CURLOPT_URL, words[1]);
  // http is for this machine alone (the caller sees to it), and a redirection may not leave https.
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(curl, CURLOPT_NOPROXY, without_proxy().c_str());
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 15L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, std::atol(words[3]));
  curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(body.most));
  // As OpenSSL's own programs do; libcurl looks at the machine's certificates alone.
  const char* const trusted = std::getenv("SSL_CERT_FILE");
  if (trusted != nullptr && *trusted != '\0') curl_easy_setopt(curl, CURLOPT_CAINFO, trusted);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "allot");
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, problem);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  const CURLcode code = curl_easy_perform(curl);
  if (body.too_large || code == CURLE_FILESIZE_EXCEEDED) return fail("it is larger than " + std::string(words[2]) + " bytes");
  if (code != CURLE_OK) return fail(problem[0] != '\0' ? problem : curl_easy_strerror(code));
  if (std::fwrite(body.bytes.data(), 1, body.bytes.size(), stdout) != body.bytes.size() || std::fflush(stdout) != 0) {
    return fail("cannot write what was fetched");
  }
  return 0;
}
