/**
 * What Git runs as SSH, POSIX sh: with the key of the owner's Secret, and to the hosts that it knows. SSH does nothing for a user that
 * has no name, and nobody's image knows the number that pods of workspaces run as. Images for any user let the group write names.
 */
export const SSH_SCRIPT = `#!/bin/sh
set -u
secret=$(cat -- "$(dirname -- "$0")/secret")
uid=$(id -u)
names=\${PASSWD_FILE:-/etc/passwd}
if ! id -un > /dev/null 2>&1; then
  if [ -w "$names" ]; then
    printf 'user:x:%s:0::%s:/bin/sh\\n' "$uid" "\${HOME:-/tmp}" >> "$names"
  else
    printf 'berth: SSH needs a name for user %s: have one in /etc/passwd of the image, or let group 0 write that file\\n' "$uid" >&2
  fi
fi
exec ssh -i "$secret/ssh-privatekey" -o IdentitiesOnly=yes -o "UserKnownHostsFile=$secret/known_hosts" -o StrictHostKeyChecking=yes "$@"
`
