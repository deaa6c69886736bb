import type { V1Container, V1EnvVar, V1VolumeMount } from '@kubernetes/client-node'
import type { WorkspaceClassSpec } from '../../../api/index.ts'
import type { Container } from '../../../devfile/index.ts'
import { ownResourcesOf } from './own-resources.ts'
import type { WorkspacePlan } from './plan.ts'
import { securityOf } from './rights.ts'
import { DATA } from './volumes.ts'

/** Folder of the volume that lasts. Whether it is there says whether the image's home was brought there. */
const FOLDER = 'home'
/** Where the container that brings it has the whole volume. */
const VOLUME = '/.workspace-data/volume'

/**
 * Brings the home that the image has to the volume, once: `sh -c HOME_SCRIPT <name> <home> <volume>`. The same text for every
 * workspace, POSIX sh, run by any user of group 0. A home that is there is never touched, and one that is not whole never is there.
 */
export const HOME_SCRIPT = `set -u
umask 002
from=$1 to=$2/${FOLDER} part=$2/${FOLDER}.part

say() {
  printf '%s\\n' "$1" >&2
  [ ! -w "\${TERMINATION_LOG:-/dev/termination-log}" ] || printf '%s' "$1" >"\${TERMINATION_LOG:-/dev/termination-log}"
}
fail() {
  rm -rf "$part"
  say "cannot bring $from of the image to the volume: $1"
  exit 1
}

[ ! -e "$to" ] || exit 0
rm -rf "$part"
mkdir "$part" || fail 'the volume cannot be written'
if [ -d "$from" ]; then
  words=$(LC_ALL=C cp -RP "$from/." "$part/" 2>&1) || case $words in
    *'No space left'* | *'uota exceeded'*) fail 'it is full' ;;
    # What only root may read would be of no use to the user either.
    *) say "not all of $from could be read: $(printf '%s\\n' "$words" | tail -n 1 | cut -c 1-400)" ;;
  esac
fi
# The next pod may run as somebody else of the same group.
chmod -R g=u "$part" 2>/dev/null
mv "$part" "$to" || fail 'the volume cannot be written'
`

type HomePlan = Pick<WorkspacePlan, 'settings' | 'devfile' | 'form'>

/** The home that a container has on the volume; nothing where the class wants none, or the devfile has put a volume there. */
export function homeOf({ persistentHome }: WorkspaceClassSpec, container: Container): string | undefined {
  const { enabled = false, path = '/home/user' } = persistentHome ?? {}
  // Only the main pod waits until the home was brought.
  if (!enabled || !container.mountSources || container.dedicatedPod) return undefined
  const taken = [container.sourceMapping, ...container.volumeMounts.map((mount) => mount.path)]
  return taken.some((each) => path === each || path.startsWith(`${each}/`)) ? undefined : path
}

export const homeMountsOf = (settings: WorkspaceClassSpec, container: Container): V1VolumeMount[] => {
  const mountPath = homeOf(settings, container)
  return mountPath === undefined ? [] : [{ name: DATA, mountPath, subPath: FOLDER }]
}

/** A number that no image knows has no home of its own. */
export const homeEnvOf = (settings: WorkspaceClassSpec, container: Container): V1EnvVar[] => {
  const value = homeOf(settings, container)
  return value === undefined ? [] : [{ name: 'HOME', value }]
}

/** The container that brings the home; its image is that of the first container that has one. */
export function homeBringersOf(plan: HomePlan): V1Container[] {
  const { settings, devfile } = plan
  const first = devfile.containers.find((container) => homeOf(settings, container) !== undefined)
  const path = first && homeOf(settings, first)
  if (!path || settings.persistentHome?.copyFromImage === false) return []
  return [
    {
      name: 'berth-home',
      image: first.image,
      command: ['sh', '-c', HOME_SCRIPT, 'berth-home', path, VOLUME],
      resources: ownResourcesOf(plan),
      volumeMounts: [{ name: DATA, mountPath: VOLUME }],
      securityContext: securityOf(settings),
    },
  ]
}
