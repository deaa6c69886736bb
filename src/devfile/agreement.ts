import type { Components, Located } from './component.ts'
import type { Endpoint } from './devfile.ts'

/** The rules between parts: names that are unique, ports that are one container's, mounts that name a volume. */
export function checkAgreement(components: Components): void {
  uniqueNames(components)
  uniqueEndpoints(components)
  onePortOneContainer(components)
  mountsNameVolumes(components)
}

function uniqueNames({ containers, volumes }: Components): void {
  const seen = new Set<string>()
  for (const { value, place } of [...containers, ...volumes]) {
    if (value.name && seen.has(value.name)) place.problem(`two components are called "${value.name}"`)
    seen.add(value.name)
  }
}

const endpointsOf = ({ containers }: Components): (Located<Endpoint> & { container: string })[] =>
  containers.flatMap(({ value, place }) => value.endpoints.map((endpoint) => ({ value: endpoint, place, container: value.name })))

function uniqueEndpoints(components: Components): void {
  const seen = new Map<string, string>()
  for (const { value, place, container } of endpointsOf(components)) {
    const other = seen.get(value.name)
    if (other !== undefined) place.problem(`endpoint "${value.name}" of ${container} is there already, in ${other}`)
    seen.set(value.name, container)
  }
}

/** The containers of a workspace share one network, so one port cannot be two containers'. */
function onePortOneContainer(components: Components): void {
  const holder = new Map<number, string>()
  for (const { value, place, container } of endpointsOf(components)) {
    const other = holder.get(value.targetPort) ?? container
    if (other !== container) place.problem(`port ${value.targetPort} of ${container} is ${other}'s already`)
    holder.set(value.targetPort, other)
  }
}

function mountsNameVolumes({ containers, volumes }: Components): void {
  const names = new Set(volumes.map(({ value }) => value.name))
  for (const { value, place } of containers) {
    const paths = new Set(value.mountSources ? [value.sourceMapping] : [])
    for (const mount of value.volumeMounts) {
      if (!names.has(mount.name)) {
        place.problem(`container "${value.name}" mounts "${mount.name}", but no volume component is called so`)
      }
      if (paths.has(mount.path)) place.problem(`container "${value.name}" mounts two things at ${mount.path}`)
      paths.add(mount.path)
    }
  }
}
