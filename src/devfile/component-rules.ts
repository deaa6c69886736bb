import { amountOf } from '../std/index.ts'
import { type Component, checkUnique, isDedicated, type Parts, problem, spotOf, warning } from './parts.ts'
import { at, entriesOf, flagOf, itemsOf, numberOf, textOf, type YamlTree } from './tree.ts'
import { isUri, resolvedUri, URI_REMEDY } from './uri.ts'

/** What holds between components, and inside of one beyond its shape. */
export function checkComponents(parts: Parts): void {
  checkUnique(
    parts,
    parts.components.map(({ name, tree, path }) => ({ name, spot: spotOf(at(tree, 'name'), tree), path: `${path}.name` })),
    (name) => ({ rule: 'unique-component', message: `two components are called "${name}"`, remedy: 'rename one of them' }),
  )
  checkEndpoints(parts)
  checkPorts(parts)
  checkAnnotations(parts)
  checkContribution(parts)
  for (const component of parts.components) {
    if (component.kind === 'container') checkContainer(parts, component)
    if (component.kind === 'volume') checkQuantity(parts, component, 'size', 'volume-size')
    if (component.kind === 'kubernetes' || component.kind === 'openshift') checkManifest(parts, component)
    if (component.kind === 'image') checkImage(parts, component)
  }
}

/** Over all components: their names become ports of one Service. */
function checkEndpoints(parts: Parts): void {
  const holders = new Map<string, string>()
  for (const component of parts.components) {
    for (const { tree, name, path } of component.endpoints) {
      checkSecure(parts, tree, path)
      if (!name) continue
      const other = holders.get(name)
      if (other === undefined) {
        holders.set(name, component.name)
        continue
      }
      problem(parts, spotOf(at(tree, 'name'), tree), `${path}.name`, {
        rule: 'unique-endpoint',
        message: `endpoint "${name}" of ${component.name} is there already, in ${other}`,
        remedy: 'rename one of them',
      })
    }
  }
}

function checkSecure(parts: Parts, endpoint: YamlTree, path: string): void {
  const protocol = textOf(at(endpoint, 'protocol')) ?? 'http'
  const secure = at(endpoint, 'secure')
  if (flagOf(secure) && secure && (protocol === 'tcp' || protocol === 'udp'))
    warning(parts, secure, `${path}.secure`, { rule: 'secure', message: `has no effect with protocol ${protocol}` })
}

/** The containers of a pod share one network, so one port cannot be two containers'. Another pod has its own. */
function checkPorts(parts: Parts): void {
  const holders = new Map<number, Component>()
  for (const component of parts.components) {
    if (component.kind !== 'container' || isDedicated(component)) continue
    for (const { tree, path } of component.endpoints) {
      const target = at(tree, 'targetPort')
      const port = numberOf(target)
      if (port === undefined) continue
      const other = holders.get(port) ?? component
      holders.set(port, other)
      if (other !== component)
        problem(parts, spotOf(target, tree), `${path}.targetPort`, {
          rule: 'target-port',
          message: `port ${port} of ${component.name} is ${other.name}'s already`,
          remedy: 'containers of one pod share their ports: use another one, or dedicatedPod',
        })
    }
  }
}

/** Containers of one pod share its Deployment and its Service, and one key of an annotation has one value. */
function checkAnnotations(parts: Parts): void {
  const seen = new Map<string, { value: string | undefined; owner: string }>()
  for (const component of parts.components) {
    if (component.kind !== 'container' || isDedicated(component)) continue
    for (const object of ['deployment', 'service']) {
      for (const [name, { value }] of entriesOf(at(component.body, 'annotation', object))) {
        const other = seen.get(`${object} ${name}`)
        if (other && other.value !== textOf(value))
          problem(parts, value, `${component.path}.container.annotation.${object}.${name}`, {
            rule: 'annotation-conflict',
            message: `annotation "${name}" of the ${object} has another value in ${other.owner}`,
            remedy: 'give it one value, or one of the containers a pod of its own',
          })
        seen.set(`${object} ${name}`, other ?? { value: textOf(value), owner: component.name })
      }
    }
  }
}

const CONTRIBUTION = 'controller.devfile.io/merge-contribution'

function checkContribution(parts: Parts): void {
  const marked = parts.components.filter(({ tree }) => flagOf(at(tree, 'attributes', CONTRIBUTION)))
  for (const { tree, path } of marked.slice(1))
    problem(parts, spotOf(at(tree, 'attributes', CONTRIBUTION), tree), `${path}.attributes.${CONTRIBUTION}`, {
      rule: 'merge-contribution',
      message: `${marked[0]?.name} has this attribute already, and the editor goes into one container`,
      remedy: 'leave it at one component',
    })
}

const RESERVED = ['PROJECTS_ROOT', 'PROJECT_SOURCE']
/** As the API server reads the name of an environment variable. */
const ENV_NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/

function checkContainer(parts: Parts, component: Component): void {
  const { body, path } = component
  const image = at(body, 'image')
  const name = textOf(image)
  if (image && name !== undefined && (name === '' || /\s/.test(name.replace(/\{\{[^{}]*\}\}/g, ''))))
    problem(parts, image, `${path}.container.image`, { rule: 'image', message: `"${name}" is not the name of an image` })
  checkEnv(parts, at(body, 'env'), `${path}.container.env`, RESERVED)
  checkPath(parts, at(body, 'sourceMapping'), `${path}.container.sourceMapping`)
  checkMounts(parts, component)
  for (const kind of ['cpu', 'memory']) checkResource(parts, component, kind)
  checkOverride(parts, component)
}

export function checkEnv(parts: Parts, env: YamlTree | undefined, path: string, reserved: readonly string[] = []): void {
  itemsOf(env).forEach((item, i) => {
    const name = at(item, 'name')
    const text = textOf(name)
    if (!name || text === undefined) return
    const here = `${path}[${i}].name`
    if (reserved.includes(text))
      problem(parts, name, here, {
        rule: 'reserved-env',
        message: `${text} is set for every workspace`,
        remedy: 'choose another name',
      })
    else if (!ENV_NAME.test(text))
      problem(parts, name, here, { rule: 'env-name', message: `"${text}" is not the name of an environment variable` })
  })
}

/** A path in a container. `:` would end it, `..` would lead out of where it seems to be. */
function checkPath(parts: Parts, tree: YamlTree | undefined, path: string): void {
  const text = textOf(tree)
  if (!tree || text === undefined) return
  if (!text.startsWith('/') || text.includes(':') || text.split('/').includes('..'))
    problem(parts, tree, path, { rule: 'path', message: `"${text}" must be an absolute path without ".." and ":"` })
}

function checkMounts(parts: Parts, { name, body, path }: Component): void {
  const source = textOf(at(body, 'sourceMapping')) ?? '/projects'
  const mountsSources = flagOf(at(body, 'mountSources')) ?? flagOf(at(body, 'dedicatedPod')) !== true
  const taken = new Set(mountsSources ? [source] : [])
  itemsOf(at(body, 'volumeMounts')).forEach((mount, i) => {
    const here = `${path}.container.volumeMounts[${i}]`
    const volume = textOf(at(mount, 'name'))
    const place = textOf(at(mount, 'path')) ?? `/${volume}`
    checkPath(parts, at(mount, 'path'), `${here}.path`)
    if (volume !== undefined && parts.isWhole && parts.componentsByName.get(volume)?.kind !== 'volume')
      problem(parts, spotOf(at(mount, 'name'), mount), `${here}.name`, {
        rule: 'volume-mount',
        message: `container "${name}" mounts "${volume}", but no volume component is called so`,
        remedy: 'add the volume, or mount another one',
      })
    if (taken.has(place))
      problem(parts, spotOf(at(mount, 'path'), mount), `${here}.path`, {
        rule: 'mount-path',
        message: `container "${name}" mounts two things at ${place}`,
        remedy: 'give each a path of its own',
      })
    taken.add(place)
  })
}

function checkResource(parts: Parts, component: Component, kind: string): void {
  const request = checkQuantity(parts, component, `${kind}Request`)
  const limit = checkQuantity(parts, component, `${kind}Limit`)
  const tree = at(component.body, `${kind}Request`)
  if (!tree || request === undefined || limit === undefined || request <= limit) return
  const [asked, most] = [textOf(tree), textOf(at(component.body, `${kind}Limit`))]
  problem(parts, tree, `${component.path}.container.${kind}Request`, {
    rule: 'request-over-limit',
    message: `${kind}Request ${asked} must not exceed ${kind}Limit ${most}`,
    remedy: 'raise the limit or lower the request',
  })
}

/** The amount, where it is one. Nothing of a container is less than nothing. */
function checkQuantity(parts: Parts, { body, path, kind }: Component, field: string, rule = 'quantity'): number | undefined {
  const tree = at(body, field)
  const text = textOf(tree)
  if (!tree || text === undefined) return undefined
  const amount = amountOf(text)
  if (amount !== undefined && amount >= 0) return amount
  const remedy = 'write 500m, 2 or 512Mi'
  problem(parts, tree, `${path}.${kind}.${field}`, { rule, message: `"${text}" is not a quantity`, remedy })
  return undefined
}

/** What keeps a container alive takes the place of what it would run. */
function checkOverride(parts: Parts, { tree, body, path }: Component): void {
  const wanted = at(tree, 'attributes', 'overrideCommand')
  if (!wanted) return
  const here = `${path}.attributes.overrideCommand`
  const runs = itemsOf(at(body, 'command')).length + itemsOf(at(body, 'args')).length > 0
  if (flagOf(wanted) === undefined) problem(parts, wanted, here, { rule: 'type', message: 'must be true or false' })
  else if (flagOf(wanted) && runs)
    problem(parts, wanted, here, {
      rule: 'override-command',
      message: 'overrideCommand and command or args exclude each other',
      remedy: 'leave one out',
    })
}

export function checkUri(parts: Parts, tree: YamlTree | undefined, path: string): void {
  const text = textOf(tree)
  // A variable that stayed is told by a warning.
  if (tree && text !== undefined && !text.includes('{{') && !isUri(text))
    problem(parts, tree, path, { rule: 'uri', message: `"${text}" is not a URI`, remedy: URI_REMEDY })
}

/** As that of a parent, it may not lead out of the folder in which all began. */
function checkManifest(parts: Parts, { kind, body, path }: Component): void {
  const tree = at(body, 'uri')
  const text = textOf(tree)
  checkUri(parts, tree, `${path}.${kind}.uri`)
  if (tree && text !== undefined && isUri(text) && resolvedUri(text, tree.file) === undefined)
    problem(parts, tree, `${path}.${kind}.uri`, {
      rule: 'uri',
      message: `"${text}" leads out of the folder of the devfile`,
      remedy: 'leave .. out',
    })
}

function checkImage(parts: Parts, { body, path }: Component): void {
  const here = `${path}.image.dockerfile`
  const dockerfile = at(body, 'dockerfile')
  checkUri(parts, at(dockerfile, 'uri'), `${here}.uri`)
  checkUri(parts, at(dockerfile, 'devfileRegistry', 'registryUrl'), `${here}.devfileRegistry.registryUrl`)
}
