/**
 * Git's credential helper, POSIX sh. Everything that it works with lies in files beside it; nothing is ever written into its text.
 * It asks kas with the only program that is surely there, Git itself: the answer is a list of refs (kas/git-credentials).
 */
export const CREDENTIAL_SCRIPT = `#!/bin/sh
# Git asks this for the credentials of the workspace's project. It knows those of no other repository.
set -u
here=$(dirname -- "$0")

value() { cat -- "$here/$1" 2>/dev/null; }
give_up() { printf 'berth: %s\\n' "$1" >&2; exit 0; }

# Nothing is kept: what is given is asked for again. So there is nothing to store, and nothing to erase.
[ "\${1-}" = get ] || exit 0

protocol= host= path=
while IFS= read -r line && [ -n "$line" ]; do
  case $line in
    protocol=*) protocol=$(printf %s "$line" | cut -d= -f2-) ;;
    host=*) host=$(printf %s "$line" | cut -d= -f2-) ;;
    path=*) path=$(printf %s "$line" | cut -d= -f2-) ;;
  esac
done
own=$(value path)
[ "$protocol" = "$(value protocol)" ] && [ "$host" = "$(value host)" ] || exit 0
case $path in
  "$own" | "$own.git" | "$own/info/lfs" | "$own.git/info/lfs") ;;
  *) exit 0 ;;
esac

# A copy of the owner's Secret, where kas is not to be asked.
secret=$(value secret)
password=$(cat -- "$secret/password" 2>/dev/null || cat -- "$secret/token" 2>/dev/null)
if [ -n "$password" ]; then
  username=$(cat -- "$secret/username" 2>/dev/null)
  printf 'username=%s\\npassword=%s\\n' "$(printf %s "\${username:-git}")" "$password"
  exit 0
fi

kas=$(value kas-url)
[ -n "$kas" ] || exit 0
token=$(value token/token) || give_up "no token in $here/token: the pod has none to show kas"

# What the person or a repository has set for Git is not for the way to kas, nor are traces: they would show the password.
for name in $(env | sed -n 's/^\\(GIT_[A-Za-z0-9_]*\\)=.*/\\1/p'); do unset "$name"; done
cd / || exit 0
set_config() {
  eval "GIT_CONFIG_KEY_$GIT_CONFIG_COUNT=\\$1 GIT_CONFIG_VALUE_$GIT_CONFIG_COUNT=\\$2"
  export "GIT_CONFIG_KEY_$GIT_CONFIG_COUNT" "GIT_CONFIG_VALUE_$GIT_CONFIG_COUNT"
  GIT_CONFIG_COUNT=$((GIT_CONFIG_COUNT + 1))
}
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0 GIT_CONFIG_COUNT=0
set_config http.extraHeader "Authorization: Bearer $token"
set_config http.extraHeader "Berth-Git-Url: $(value url)"
set_config http.followRedirects false
set_config protocol.version 0
set_config http.lowSpeedLimit 1
set_config http.lowSpeedTime 10
[ ! -s "$here/kas-ca.crt" ] || set_config http.sslCAInfo "$here/kas-ca.crt"

tries=0
until answer=$(git ls-remote -- "$kas" 2>&1); do
  tries=$((tries + 1))
  said=$(printf '%s\\n' "$answer" | sed -n 's/^remote: *//p' | tail -n 1)
  [ -n "$said" ] || said=$(printf '%s\\n' "$answer" | tail -n 1 | cut -c 1-300)
  case $answer in *'error: 403'* | *'not found'* | *'error: 409'*) tries=9 ;; esac
  [ "$tries" -lt 3 ] || give_up "no credentials for $(value url): $said"
  sleep "$tries"
done
printf '%s\\n' "$answer" | sed -n 's#^[0-9a-f]*[[:space:]]*refs/berth/\\([a-z_]*\\)/\\(.*\\)$#\\1 \\2#p' | while read -r key text; do
  printf '%s=%b\\n' "$key" "$(printf %s "$text" | sed 's/=/\\\\0/g')"
done
`
