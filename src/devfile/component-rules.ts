import { amountOf } from '../std/index.ts'
import { type ComponentPart, checkUnique, type DevfileParts, isDedicated } from './parts.ts'
import { problem, warning } from './problem.ts'
import { at, entriesOf, flagOf, itemsOf, numberOf, textOf, type YamlTree } from './tree.ts'
import { isUri, resolvedUri, URI_REMEDY } from './uri.ts'
import { withoutVariables } from './variables.ts'

/** Checks the rules between components, and those inside of one beyond its shape. */
export function checkComponents(parts: DevfileParts): void {
  checkUnique(parts, parts.components, ({ name }) => ({
    rule: 'unique-component',
    message: `two components are called "${name}"`,
    remedy: 'rename one of them',
  }))
  checkEndpoints(parts)
  checkPorts(parts)
  checkAnnotations(parts)
  checkContribution(parts)
  for (const component of parts.components) {
    if (component.kind === 'container') checkContainer(parts, component)
    if (component.kind === 'volume') checkQuantity(parts, at(component.body, 'size'), 'volume-size')
    if (component.kind === 'kubernetes' || component.kind === 'openshift') checkManifest(parts, at(component.body, 'uri'))
    if (component.kind === 'image') checkImage(parts, component)
  }
}

/** Over all components: their names become ports of one Service. */
function checkEndpoints(parts: DevfileParts): void {
  const endpoints = parts.components.flatMap((component) => component.endpoints)
  for (const { tree } of endpoints) checkSecure(parts, tree)
  checkUnique(parts, endpoints, ({ name, component }, earlier) => ({
    rule: 'unique-endpoint',
    message: `endpoint "${name}" of ${component} is there already, in ${earlier.component}`,
    remedy: 'rename one of them',
  }))
}

function checkSecure(parts: DevfileParts, endpoint: YamlTree): void {
  const protocol = textOf(at(endpoint, 'protocol')) ?? 'http'
  const secure = at(endpoint, 'secure')
  if (flagOf(secure) && secure && (protocol === 'tcp' || protocol === 'udp'))
    warning(parts, secure, { rule: 'secure', message: `has no effect with protocol ${protocol}` })
}

const sharesPod = (component: ComponentPart): boolean => component.kind === 'container' && !isDedicated(component)

/** The containers of a pod share one network, so one port cannot be two containers'. Another pod has its own. */
function checkPorts(parts: DevfileParts): void {
  const holders = new Map<number, ComponentPart>()
  for (const component of parts.components.filter(sharesPod)) {
    for (const { tree } of component.endpoints) {
      const target = at(tree, 'targetPort')
      const port = numberOf(target)
      if (!target || port === undefined) continue
      const other = holders.get(port) ?? component
      holders.set(port, other)
      if (other !== component)
        problem(parts, target, {
          rule: 'target-port',
          message: `port ${port} of ${component.name} is ${other.name}'s already`,
          remedy: 'containers of one pod share their ports: use another one, or dedicatedPod',
        })
    }
  }
}

/** Containers of one pod share its Deployment and its Service, and one key of an annotation has one value. */
function checkAnnotations(parts: DevfileParts): void {
  const seen = new Map<string, { value: string | undefined; owner: string }>()
  for (const { body, name: owner } of parts.components.filter(sharesPod)) {
    for (const object of ['deployment', 'service']) {
      for (const [name, { value }] of entriesOf(at(body, 'annotation', object))) {
        const other = seen.get(`${object} ${name}`)
        if (other && other.value !== textOf(value))
          problem(parts, value, {
            rule: 'annotation-conflict',
            message: `annotation "${name}" of the ${object} has another value in ${other.owner}`,
            remedy: 'give it one value, or one of the containers a pod of its own',
          })
        seen.set(`${object} ${name}`, other ?? { value: textOf(value), owner })
      }
    }
  }
}

const CONTRIBUTION = 'controller.devfile.io/merge-contribution'

function checkContribution(parts: DevfileParts): void {
  const marked = parts.components.filter(({ tree }) => flagOf(at(tree, 'attributes', CONTRIBUTION)))
  for (const { tree } of marked.slice(1))
    problem(parts, at(tree, 'attributes', CONTRIBUTION) ?? tree, {
      rule: 'merge-contribution',
      message: `${marked[0]?.name} has this attribute already, and the editor goes into one container`,
      remedy: 'leave it at one component',
    })
}

const RESERVED = ['PROJECTS_ROOT', 'PROJECT_SOURCE']
/** As the API server reads the name of an environment variable. */
const ENV_NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/

function checkContainer(parts: DevfileParts, component: ComponentPart): void {
  const { body } = component
  const image = at(body, 'image')
  const name = textOf(image)
  if (image && name !== undefined && (name === '' || /\s/.test(withoutVariables(name))))
    problem(parts, image, { rule: 'image', message: `"${name}" is not the name of an image` })
  checkEnv(parts, at(body, 'env'), RESERVED)
  checkPath(parts, at(body, 'sourceMapping'))
  checkMounts(parts, component)
  for (const kind of ['cpu', 'memory']) checkResource(parts, component, kind)
  checkOverride(parts, component)
}

export function checkEnv(parts: DevfileParts, env: YamlTree | undefined, reserved: readonly string[] = []): void {
  for (const item of itemsOf(env)) {
    const name = at(item, 'name')
    const text = textOf(name)
    if (!name || text === undefined) continue
    if (reserved.includes(text))
      problem(parts, name, {
        rule: 'reserved-env',
        message: `${text} is set for every workspace`,
        remedy: 'choose another name',
      })
    else if (!ENV_NAME.test(text))
      problem(parts, name, { rule: 'env-name', message: `"${text}" is not the name of an environment variable` })
  }
}

/** A path in a container. `:` would end it, `..` would lead out of where it seems to be. */
function checkPath(parts: DevfileParts, tree: YamlTree | undefined): void {
  const text = textOf(tree)
  if (!tree || text === undefined) return
  if (!text.startsWith('/') || text.includes(':') || text.split('/').includes('..'))
    problem(parts, tree, { rule: 'path', message: `"${text}" must be an absolute path without ".." and ":"` })
}

function checkMounts(parts: DevfileParts, component: ComponentPart): void {
  const { name, body } = component
  const source = textOf(at(body, 'sourceMapping')) ?? '/projects'
  const taken = new Set((flagOf(at(body, 'mountSources')) ?? !isDedicated(component)) ? [source] : [])
  for (const mount of itemsOf(at(body, 'volumeMounts'))) {
    const volume = textOf(at(mount, 'name'))
    const path = textOf(at(mount, 'path')) ?? `/${volume}`
    checkPath(parts, at(mount, 'path'))
    if (volume !== undefined && parts.isWhole && parts.componentsByName.get(volume)?.kind !== 'volume')
      problem(parts, at(mount, 'name') ?? mount, {
        rule: 'volume-mount',
        message: `container "${name}" mounts "${volume}", but no volume component is called so`,
        remedy: 'add the volume, or mount another one',
      })
    if (taken.has(path))
      problem(
        parts,
        { holder: mount, field: 'path' },
        {
          rule: 'mount-path',
          message: `container "${name}" mounts two things at ${path}`,
          remedy: 'give each a path of its own',
        },
      )
    taken.add(path)
  }
}

function checkResource(parts: DevfileParts, { body }: ComponentPart, kind: string): void {
  const [requestTree, limitTree] = [at(body, `${kind}Request`), at(body, `${kind}Limit`)]
  const request = checkQuantity(parts, requestTree)
  const limit = checkQuantity(parts, limitTree)
  if (!requestTree || request === undefined || limit === undefined || request <= limit) return
  problem(parts, requestTree, {
    rule: 'request-over-limit',
    message: `${kind}Request ${textOf(requestTree)} must not exceed ${kind}Limit ${textOf(limitTree)}`,
    remedy: 'raise the limit or lower the request',
  })
}

/** The amount, where it is one. Nothing of a container is less than nothing. */
function checkQuantity(parts: DevfileParts, tree: YamlTree | undefined, rule = 'quantity'): number | undefined {
  const text = textOf(tree)
  if (!tree || text === undefined) return undefined
  const amount = amountOf(text)
  if (amount !== undefined && amount >= 0) return amount
  return problem(parts, tree, { rule, message: `"${text}" is not a quantity`, remedy: 'write 500m, 2 or 512Mi' })
}

/** The command that keeps a container alive takes the place of its own. */
function checkOverride(parts: DevfileParts, { tree, body }: ComponentPart): void {
  const wanted = at(tree, 'attributes', 'overrideCommand')
  if (!wanted) return
  const runs = itemsOf(at(body, 'command')).length + itemsOf(at(body, 'args')).length > 0
  if (flagOf(wanted) === undefined) problem(parts, wanted, { rule: 'type', message: 'must be true or false' })
  else if (flagOf(wanted) && runs)
    problem(parts, wanted, {
      rule: 'override-command',
      message: 'overrideCommand and command or args exclude each other',
      remedy: 'leave one out',
    })
}

export function checkUri(parts: DevfileParts, tree: YamlTree | undefined): void {
  const text = textOf(tree)
  // A variable that stayed is told by a warning.
  if (tree && text !== undefined && !text.includes('{{') && !isUri(text))
    problem(parts, tree, { rule: 'uri', message: `"${text}" is not a URI`, remedy: URI_REMEDY })
}

/** As that of a parent, it may not lead out of the folder in which all began. */
function checkManifest(parts: DevfileParts, uri: YamlTree | undefined): void {
  const text = textOf(uri)
  checkUri(parts, uri)
  if (uri && text !== undefined && isUri(text) && resolvedUri(text, uri.file) === undefined)
    problem(parts, uri, { rule: 'uri', message: `"${text}" leads out of the folder of the devfile`, remedy: 'leave .. out' })
}

function checkImage(parts: DevfileParts, { body }: ComponentPart): void {
  const dockerfile = at(body, 'dockerfile')
  checkUri(parts, at(dockerfile, 'uri'))
  checkUri(parts, at(dockerfile, 'devfileRegistry', 'registryUrl'))
}
