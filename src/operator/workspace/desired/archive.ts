import type { V1Container } from '@kubernetes/client-node'
import {
  clonerImageOf,
  type Job,
  Jobs,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  type WorkspaceStatus,
} from '../../../api/index.ts'
import { hours } from '../../../std/index.ts'
import { envelope } from './envelope.ts'
import { ownResourcesOf } from './own-resources.ts'
import { besideName } from './parts.ts'
import type { Addition, WorkspacePlan } from './plan.ts'
import { POD_SECURITY, securityOf } from './rights.ts'
import { DATA, volumeNameOf } from './volumes.ts'

/** A volume that takes longer is given up; the workspace is stopped meanwhile as ever. */
const LIMIT_SECONDS = hours(2) / 1000
const ARCHIVES = 'workspace-archives'
const FROM = '/.workspace-data/volume'
const TO = '/.workspace-data/archives'

/** `sh -c ARCHIVE_SCRIPT <name> <volume> <archives> <keep>`: one whole file, or none; then the oldest beyond their number go. */
export const ARCHIVE_SCRIPT = `set -u
umask 007
name=$0 from=$1 to=$2 keep=$3
part=$to/.part
rm -f "$part"
# A tar that fails to get there may end before the gzip that it started has made the file.
cd "$from" || exit 1
tar -czf "$part" . || { rm -f "$part"; exit 1; }
mv "$part" "$to/$name.tar.gz" || exit 1
ls -1t "$to" | grep '[.]tar[.]gz$' | tail -n "+$((keep + 1))" | while read -r old; do
  rm -f "$to/$old"
done
`

/** `sh -c RESTORE_SCRIPT <name> <archives> <volume>`: fills the volume of a new workspace, once. What is there is never touched. */
export const RESTORE_SCRIPT = `set -u
umask 002
file=$1/$0.tar.gz to=$2 part=$2/.berth-restore
[ ! -e "$to/.berth-restored" ] || exit 0
rm -rf "$part"
mkdir "$part" || exit 1
tar -xzf "$file" -C "$part" || { rm -rf "$part"; exit 1; }
for each in "$part"/* "$part"/.[!.]*; do
  [ -e "$each" ] || [ -L "$each" ] || continue
  here=$to/\${each##*/}
  # The kubelet may have made an empty folder there.
  [ ! -d "$here" ] || rmdir "$here" 2>/dev/null
  [ -e "$here" ] || mv "$each" "$here" || exit 1
done
rm -rf "$part"
: >"$to/.berth-restored"
`

type Body = Pick<V1Container, 'securityContext' | 'resources' | 'image'>

const bodyOf = (plan: WorkspacePlan): Body => ({
  image: clonerImageOf(plan.settings),
  resources: ownResourcesOf(plan),
  securityContext: securityOf(plan.settings),
})

export const archivesOf = (plan: WorkspacePlan): PersistentVolumeClaim => {
  const { size = '10Gi', storageClassName } = plan.settings.backup?.archive ?? {}
  return {
    ...envelope(plan, PersistentVolumeClaims, besideName(plan.workspace, 'archives')),
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClassName && { storageClassName }),
      resources: { requests: { storage: String(size) } },
    },
  }
}

/** The Job that archives the volume. Its pods are not the workspace's: nothing waits for them. */
export function archiveJob(plan: WorkspacePlan, name: string): Job {
  const { keep = 3 } = plan.settings.backup ?? {}
  const container: V1Container = {
    name: 'berth-backup',
    ...bodyOf(plan),
    command: ['sh', '-c', ARCHIVE_SCRIPT, name, FROM, TO, String(keep)],
    volumeMounts: [
      { name: DATA, mountPath: FROM, readOnly: true },
      { name: ARCHIVES, mountPath: TO },
    ],
  }
  return {
    ...envelope(plan, Jobs, name),
    spec: {
      backoffLimit: 1,
      activeDeadlineSeconds: LIMIT_SECONDS,
      template: {
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: POD_SECURITY,
          containers: [container],
          volumes: [
            { name: DATA, persistentVolumeClaim: { claimName: volumeNameOf(plan) } },
            { name: ARCHIVES, persistentVolumeClaim: { claimName: archivesOf(plan).metadata.name } },
          ],
        },
      },
    },
  }
}

/** Fills the volume of a workspace that is restored from an archive, before anything else runs. */
export function restoreAddition(plan: WorkspacePlan, from: WorkspaceStatus['restoredFrom']): Addition {
  if (from?.kind !== 'Archive' || from.volume === undefined) return {}
  const restorer: V1Container = {
    name: 'berth-restore',
    ...bodyOf(plan),
    command: ['sh', '-c', RESTORE_SCRIPT, from.name, TO, FROM],
    volumeMounts: [
      { name: ARCHIVES, mountPath: TO, readOnly: true },
      { name: DATA, mountPath: FROM },
    ],
  }
  return {
    initContainers: [restorer],
    volumes: [{ name: ARCHIVES, persistentVolumeClaim: { claimName: from.volume, readOnly: true } }],
  }
}
