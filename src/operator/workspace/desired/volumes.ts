import type { V1Volume, V1VolumeMount } from '@kubernetes/client-node'
import { type PersistentVolumeClaim, PersistentVolumeClaims, type WorkspaceClassSpec } from '../../../api/index.ts'
import type { Container, Devfile, Volume } from '../../../devfile/index.ts'
import { quantity } from '../../../std/index.ts'
import { envelope } from './envelope.ts'
import { objectNameOf } from './names.ts'
import { fitted } from './parts.ts'
import type { WorkspacePlan } from './plan.ts'

/** One volume for all that must last, a folder of it for each use. */
export const DATA = 'workspace-data'

export const volumeClaimOf = (plan: WorkspacePlan): PersistentVolumeClaim => ({
  ...envelope(plan, PersistentVolumeClaims, volumeNameOf(plan)),
  spec: { ...volumeSpecOf(plan.settings, plan.devfile, plan.restored?.size), ...sourceOf(plan) },
})

/** A volume that a driver fills from a snapshot. */
const sourceOf = ({ restored }: WorkspacePlan): Pick<NonNullable<PersistentVolumeClaim['spec']>, 'dataSource'> =>
  restored?.kind === 'VolumeSnapshot'
    ? { dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: restored.name } }
    : {}

/** A volume that was there before the workspace has another name. */
export const volumeNameOf = ({ workspace, volume }: WorkspacePlan): string => volume?.name ?? objectNameOf(workspace)

export function volumeSpecOf(
  settings: WorkspaceClassSpec,
  devfile?: Devfile,
  least?: string,
): NonNullable<PersistentVolumeClaim['spec']> {
  const size = volumeSizeOf(settings, devfile)
  const { storageClassName } = settings.storage ?? {}
  return {
    accessModes: ['ReadWriteOnce'],
    ...(storageClassName && { storageClassName }),
    resources: { requests: { storage: least !== undefined && quantity(least) > quantity(size) ? least : size } },
  }
}

/** As large as the class says, or as the devfile's volumes together if they need more. */
export function volumeSizeOf({ storage }: WorkspaceClassSpec, devfile?: Devfile): string {
  const { size = '10Gi' } = storage ?? {}
  const parts = (devfile?.volumes ?? []).filter(({ ephemeral }) => !ephemeral).map((volume) => volume.size ?? 0)
  const sum = parts.reduce<number>((all, part) => all + quantity(part), 0)
  return sum > quantity(size) ? String(Math.ceil(sum)) : String(size)
}

/** The volumes of a pod with these containers: the one that lasts, and those that end with the pod and are mounted there. */
export function volumesOf(plan: WorkspacePlan, containers: readonly Container[], hasClaim: boolean): V1Volume[] {
  const { devfile } = plan
  const claimName = volumeNameOf(plan)
  const mounted = new Set(containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name)))
  const brief = devfile.volumes.filter(({ name, ephemeral }) => ephemeral && mounted.has(name))
  return [
    hasClaim ? { name: DATA, persistentVolumeClaim: { claimName } } : { name: DATA, emptyDir: {} },
    ...brief.map(({ name, size }) => ({ name: briefName(name), emptyDir: size === undefined ? {} : { sizeLimit: size } })),
  ]
}

/** Says of a container that it has something of the volume that lasts, beside the logs that any has. */
export const usesLasting = ({ devfile }: WorkspacePlan, { mountSources, volumeMounts }: Container): boolean =>
  mountSources || volumeMounts.some(({ name }) => devfile.volumes.some((volume) => volume.name === name && !volume.ephemeral))

const briefName = (name: string): string => fitted(`volume-${name}`)

/** Mounts the project and its volumes in a container. */
export function mountsOf({ mountSources, sourceMapping, volumeMounts }: Container, volumes: readonly Volume[]): V1VolumeMount[] {
  const project = mountSources ? [{ name: DATA, mountPath: sourceMapping, subPath: 'projects' }] : []
  const others = volumeMounts.map(({ name, path }) =>
    volumes.some((volume) => volume.name === name && volume.ephemeral)
      ? { name: briefName(name), mountPath: path }
      : { name: DATA, mountPath: path, subPath: `volumes/${name}` },
  )
  return [...project, ...others]
}
