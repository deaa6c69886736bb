import { buildCommand, buildEvents } from './build-commands.ts'
import { buildProject, buildStarter, gitOf } from './build-projects.ts'
import type { Container, Devfile, DockerfileSource, Endpoint, Image, Manifest, Resources } from './devfile.ts'
import { attributesOf, envOf, mapOf, oneOf, textsOf } from './fields.ts'
import type { Component, Parts } from './parts.ts'
import { at, flagOf, itemsOf, numberOf, textOf, type YamlTree } from './tree.ts'
import { resolvedUri } from './uri.ts'

/** The words of a devfile in which no problem was found. */
export function buildDevfile({ root, components, commands, findings }: Parts): Devfile {
  const of = (kind: Component['kind']) => components.filter((component) => component.kind === kind)
  return {
    schemaVersion: textOf(at(root, 'schemaVersion')) ?? '',
    name: textOf(at(root, 'metadata', 'name')),
    attributes: attributesOf(root),
    containers: of('container').map(buildContainer),
    volumes: of('volume').map(({ name, body }) => ({
      name,
      size: textOf(at(body, 'size')),
      ephemeral: flagOf(at(body, 'ephemeral')) ?? false,
    })),
    manifests: components.flatMap(buildManifest),
    images: of('image').map(buildImage),
    commands: commands.flatMap(buildCommand),
    events: buildEvents(root, commands),
    projects: itemsOf(at(root, 'projects')).map(buildProject),
    starterProjects: itemsOf(at(root, 'starterProjects')).map(buildStarter),
    dependentProjects: itemsOf(at(root, 'dependentProjects')).map(buildProject),
    warnings: findings.warnings,
  }
}

const EDITOR = ['gl/inject-editor', 'berth.dev/inject-editor']

function buildContainer({ name, tree, body }: Component): Container {
  const command = textsOf(at(body, 'command'))
  const args = textsOf(at(body, 'args'))
  const dedicatedPod = flagOf(at(body, 'dedicatedPod')) ?? false
  const hasEditor = EDITOR.some((key) => flagOf(at(tree, 'attributes', key)))
  return {
    name,
    image: textOf(at(body, 'image')) ?? '',
    command,
    args,
    env: envOf(at(body, 'env')),
    endpoints: itemsOf(at(body, 'endpoints')).map(buildEndpoint),
    volumeMounts: itemsOf(at(body, 'volumeMounts')).map((mount) => {
      const volume = textOf(at(mount, 'name')) ?? ''
      return { name: volume, path: textOf(at(mount, 'path')) ?? `/${volume}` }
    }),
    resources: resourcesOf(body),
    mountSources: flagOf(at(body, 'mountSources')) ?? !dedicatedPod,
    sourceMapping: textOf(at(body, 'sourceMapping')) ?? '/projects',
    // A container that gets the editor stays alive by itself, unless it says what it runs.
    overrideCommand: flagOf(at(tree, 'attributes', 'overrideCommand')) ?? (hasEditor && command.length + args.length === 0),
    dedicatedPod,
    annotations: { deployment: mapOf(at(body, 'annotation', 'deployment')), service: mapOf(at(body, 'annotation', 'service')) },
    attributes: attributesOf(tree),
  }
}

function resourcesOf(body: YamlTree | undefined): Resources {
  const resources: Resources = {}
  for (const field of ['cpuRequest', 'cpuLimit', 'memoryRequest', 'memoryLimit'] as const) {
    const text = textOf(at(body, field))
    if (text !== undefined) resources[field] = text
  }
  return resources
}

const EXPOSURES = ['public', 'internal', 'none'] as const
const PROTOCOLS = ['http', 'https', 'ws', 'wss', 'tcp', 'udp'] as const
const SECURED: Readonly<Record<string, Endpoint['protocol']>> = { http: 'https', ws: 'wss' }

function buildEndpoint(tree: YamlTree): Endpoint {
  const protocol = oneOf(PROTOCOLS, at(tree, 'protocol')) ?? 'http'
  const secure = flagOf(at(tree, 'secure')) ?? false
  return {
    name: textOf(at(tree, 'name')) ?? '',
    targetPort: numberOf(at(tree, 'targetPort')) ?? 0,
    exposure: oneOf(EXPOSURES, at(tree, 'exposure')) ?? 'public',
    protocol: (secure ? SECURED[protocol] : undefined) ?? protocol,
    secure,
    path: textOf(at(tree, 'path')) ?? '',
    attributes: attributesOf(tree),
    annotations: mapOf(at(tree, 'annotation')),
  }
}

function buildManifest({ name, kind, tree, body }: Component): Manifest[] {
  if (kind !== 'kubernetes' && kind !== 'openshift') return []
  const written = at(body, 'uri')
  const uri = textOf(written)
  return [
    {
      name,
      kind,
      source:
        uri === undefined
          ? { inlined: textOf(at(body, 'inlined')) ?? '' }
          : { uri: resolvedUri(uri, written?.file ?? '') ?? uri },
      endpoints: itemsOf(at(body, 'endpoints')).map(buildEndpoint),
      deployByDefault: flagOf(at(body, 'deployByDefault')),
      attributes: attributesOf(tree),
    },
  ]
}

function buildImage({ name, tree, body }: Component): Image {
  const dockerfile = at(body, 'dockerfile')
  return {
    name,
    imageName: textOf(at(body, 'imageName')) ?? '',
    dockerfile: {
      ...dockerfileSourceOf(dockerfile),
      buildContext: textOf(at(dockerfile, 'buildContext')),
      args: textsOf(at(dockerfile, 'args')),
      rootRequired: flagOf(at(dockerfile, 'rootRequired')) ?? false,
    },
    autoBuild: flagOf(at(body, 'autoBuild')),
    attributes: attributesOf(tree),
  }
}

function dockerfileSourceOf(tree: YamlTree | undefined): DockerfileSource {
  const git = at(tree, 'git')
  if (git) return { from: 'git', git: gitOf(git), fileLocation: textOf(at(git, 'fileLocation')) }
  const registry = at(tree, 'devfileRegistry')
  if (!registry) return { from: 'uri', uri: textOf(at(tree, 'uri')) ?? '' }
  return { from: 'registry', id: textOf(at(registry, 'id')) ?? '', registryUrl: textOf(at(registry, 'registryUrl')) }
}
