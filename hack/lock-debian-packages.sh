#!/bin/sh
# Writes debian.txt in a folder: the Debian packages that its debian-wanted.txt names, with what they need and without those after a minus
# (-* is all that it does not name), in the versions of today. It wants apt, and touches nothing of this machine's: apt's lists and caches
# are in a folder of their own that goes at the end. They are of bookworm; a line `# Releases: OLDER NEWER` in debian-wanted.txt names another,
# and one for what that has not.
# Usage: hack/lock-debian-packages.sh hack/node
set -euf

here=$(cd "$1" && pwd)
releases=$(sed -n 's/^# Releases: //p' "$here/debian-wanted.txt")
releases=${releases:-bookworm}
release=${releases% *}
newer=${releases#"$release"}
newer=${newer# }
wanted=$(sed -n 's/^\([a-z].*\)$/\1/p' "$here/debian-wanted.txt")
unwanted=$(sed -n 's/^-\(.*\)$/\1/p' "$here/debian-wanted.txt")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/sources.list" << END
deb http://deb.debian.org/debian $release main
deb http://deb.debian.org/debian $release-updates main
deb http://deb.debian.org/debian-security $release-security main
${newer:+deb http://deb.debian.org/debian $newer main}
END

printf 'Package: *\nPin: release n=%s\nPin-Priority: 100\n' "${newer:-none}" > "$work/preferences"

for architecture in amd64 arm64; do
  state="$work/$architecture"
  mkdir -p "$state/lists/partial" "$state/archives/partial"
  : > "$state/status"
  cat > "$state/apt.conf" << END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dir::State "$state";
Dir::State::status "$state/status";
Dir::Cache "$state";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "$work/preferences";
Dir::Etc::preferencesparts "/dev/null";
END
  export APT_CONFIG="$state/apt.conf"
  apt-get update -q > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  # shellcheck disable=SC2086
  apt-get install -q --print-uris $wanted > "$work/uris"
  sed -n "s/^'\([^']*\)'.*/\1/p" "$work/uris" > "$work/urls"
  while read -r url; do
    path=${url#http://deb.debian.org/}
    # apt writes %7e for ~ where its index does not.
    file=$(printf '%s' "$path" | sed 's/%7e/~/g; s/%2b/+/g; s/%3a/:/g')
    archive=${file%%/*}
    name=${file##*/}
    case " $(echo $wanted) " in
      *" ${name%%_*} "*) ;;
      *) case " $(echo $unwanted) " in *" ${name%%_*} "* | *' * '*) continue ;; esac ;;
    esac
    apt-cache dumpavail | awk -v RS= -v file="${file#"$archive"/}" '
      index($0 "\n", "\nFilename: " file "\n") { n = split($0, lines, "\n"); for (i = 1; i <= n; i++) if (lines[i] ~ /^SHA256: /) print substr(lines[i], 9) }
    ' | head -1 | { read -r sum; echo "$architecture $sum $path"; }
  done < "$work/urls"
done > "$work/debian.txt"

{
  echo "# Made by hack/lock-debian-packages.sh from the Debian of $(date -u +%Y%m%dT000000Z): architecture, SHA-256, path."
  cat "$work/debian.txt"
} > "$here/debian.txt"
