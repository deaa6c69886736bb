import { create } from '@bufbuild/protobuf'
import { equal, is, match, ok } from 'uvu/assert'
import { type ManifestProject, manifestProjects, parseConfigurationFile } from '../../src/agentcfg/index.ts'
import { AgentConfigurationSchema, type ConfigurationFile } from '../../src/rpc/index.ts'
import { Failure } from '../../src/std/index.ts'
import { effort } from '../support/effort.ts'
import { describe } from '../support/suite.ts'

const parse = (text: string) => parseConfigurationFile(Buffer.from(text), 'team/config')

function good(text: string): ConfigurationFile {
  const { configuration, mistakes } = parse(text)
  if (configuration) return configuration
  throw new Failure('invalid', JSON.stringify(mistakes))
}

const mistakesOf = (text: string): string[] =>
  (parse(text).mistakes ?? []).map(({ line, column, message }) => `${line}:${column} ${message}`)

const projectsOf = (text: string): ManifestProject[] =>
  manifestProjects(create(AgentConfigurationSchema, { projectPath: 'team/config', gitops: good(text).gitops ?? {} }))

const first = (text: string): ManifestProject | undefined => projectsOf(text)[0]

describe('agentcfg: parse', (it) => {
  it('takes an empty file, one of comments and one without anything for the empty configuration', () => {
    for (const text of ['', '# later\n', '---\n', '{}', 'gitops:\n']) is(good(text).gitops, undefined, JSON.stringify(text))
  })

  it('fills in what is not said', () => {
    equal(first('gitops: { manifest_projects: [{}] }'), {
      id: 'team/config',
      ref: { kind: 'default' },
      defaultNamespace: 'default',
      globs: ['**/*.{yaml,yml,json}'],
      kustomize: [],
      charts: [],
      reconcileTimeout: 3_600_000,
      dryRun: 'none',
      prune: true,
      pruneTimeout: 3_600_000,
      propagation: 'Foreground',
      inventoryPolicy: 'must_match',
      deletion: 'orphan',
      namespaces: [],
      allowedKinds: [],
    })
  })

  it('reads everything that can be said of a project', () => {
    const text = `
gitops:
  namespaces: [web, db]
  allowed_kinds: [{ kind: ConfigMap }, { group: apps, kind: '*' }]
  manifest_projects:
    - id: team/app
      ref: { tag: v1 }
      default_namespace: db
      paths: [{ glob: '/a/*.yaml' }, { kustomize: overlays/prod }, { chart: { path: charts/db } }, { chart: { path: ., release_name: x, value_files: [a.yaml], skip_crds: true } }]
      reconcile_timeout: 1.5s
      dry_run_strategy: server
      prune: false
      prune_timeout: 10s
      prune_propagation_policy: orphan
      inventory_policy: adopt_all
      deletion: delete
`
    equal(first(text), {
      id: 'team/app',
      ref: { kind: 'tag', name: 'v1' },
      defaultNamespace: 'db',
      globs: ['a/*.yaml'],
      kustomize: ['overlays/prod'],
      charts: [
        { folder: 'charts/db', releaseName: 'db', valueFiles: [], skipCrds: false },
        { folder: '.', releaseName: 'x', valueFiles: ['a.yaml'], skipCrds: true },
      ],
      reconcileTimeout: 1500,
      dryRun: 'server',
      prune: false,
      pruneTimeout: 10_000,
      propagation: 'Orphan',
      inventoryPolicy: 'adopt_all',
      deletion: 'delete',
      namespaces: ['web', 'db'],
      allowedKinds: [
        { group: '', kind: 'ConfigMap' },
        { group: 'apps', kind: '*' },
      ],
    })
    equal(
      good(text).gitops?.allowedKinds.map(({ group, kind }) => [group, kind]),
      [
        ['', 'ConfigMap'],
        ['apps', '*'],
      ],
    )
  })

  it('takes the first namespace for the default one in namespaced mode', () => {
    is(first('gitops: { namespaces: [web], manifest_projects: [{ id: a/b }] }')?.defaultNamespace, 'web')
  })

  it('reads the sections that are passed on', () => {
    const file = good(`
observability: { logging: { level: debug, grpc_level: warn }, google_profiler: { enabled: true, project_id: p } }
ci_access:
  projects: [{ id: a/b, default_namespace: x, environments: ['prod/*'], access_as: { ci_job: {} } }]
  groups: [{ id: a, access_as: { impersonate: { username: u, groups: [g], uid: '1', extra: [{ key: k, val: [v] }] } } }]
user_access: { access_as: { user: {} }, projects: [{ id: a/b }], groups: [{ id: a }] }
container_scanning: { cadence: '0 0 * * *', vulnerability_report: { namespaces: [x] } }
remote_development: { enabled: true, dns_zone: x.dev, partial_sync_interval: 10s, network_policy: { enabled: false } }
flux: { webhook_receiver_url: http://x }
`)
    is(file.observability?.logging?.level, 1)
    is(file.observability?.logging?.grpcLevel, 2)
    is(file.ciAccess?.projects[0]?.accessAs?.as.case, 'ciJob')
    is(file.userAccess?.accessAs?.as.case, 'user')
    is(file.remoteDevelopment?.networkPolicy?.enabled, false)
    is(file.remoteDevelopment?.partialSyncInterval?.seconds, 10n)
  })

  it('tells all mistakes at once, each with its place, in the order of the text', () => {
    equal(
      mistakesOf(`gitops:
  manifest_projects:
    - id: a/b
      paths: [{ glob: '' }]
      prune: "yes"
      inventory_polisy: must_match
    - id: a/b
      reconcile_timeout: 1h
      deletion: maybe
charts: []
`),
      [
        '4:23 gitops.manifest_projects[0].paths[0].glob is empty; write something or leave it out',
        '5:14 gitops.manifest_projects[0].prune is "yes"; write true or false',
        '6:7 gitops.manifest_projects[0] has no key "inventory_polisy"; did you mean inventory_policy?',
        '7:11 gitops.manifest_projects[1].id is "a/b", as in line 3 already; a project may be listed once',
        '8:26 gitops.manifest_projects[1].reconcile_timeout is "1h"; write seconds, such as 3600s',
        '9:17 gitops.manifest_projects[1].deletion is "maybe"; write one of orphan, delete',
        '10:1 there is no key "charts"; the keys are gitops, observability, ci_access, container_scanning, user_access, remote_development, flux',
      ],
    )
  })

  const wrong: [why: string, text: string, said: RegExp][] = [
    ['the default project twice', 'gitops: { manifest_projects: [{}, { id: team/config }] }', /listed once/],
    ['two refs', 'gitops: { manifest_projects: [{ ref: { tag: a, branch: b } }] }', /only one of them/],
    ['no ref', 'gitops: { manifest_projects: [{ ref: {} }] }', /needs one of tag, branch, commit/],
    ['an empty id', "gitops: { manifest_projects: [{ id: '' }] }", /id is empty/],
    ['a path of nothing', 'gitops: { manifest_projects: [{ paths: [{}] }] }', /paths\[0\] needs one of glob, kustomize, chart/],
    [
      'a chart without a path',
      'gitops: { manifest_projects: [{ paths: [{ chart: { skip_crds: true } }] }] }',
      /chart\.path is missing/,
    ],
    ['a path of both', 'gitops: { manifest_projects: [{ paths: [{ glob: a, kustomize: b }] }] }', /only one of them/],
    ['a folder outside', 'gitops: { manifest_projects: [{ paths: [{ kustomize: ../x }] }] }', /below the root/],
    ['a number for a text', 'gitops: { manifest_projects: [{ id: 12 }] }', /id is 12; write a text/],
    ['a list for a mapping', 'gitops: []', /gitops is a list; write keys/],
    ['a text for a list', 'gitops: { manifest_projects: x }', /is "x"; write a list/],
    ['a namespace that is none', 'gitops: { namespaces: [A_b] }', /no namespace can be called/],
    ['a home that is not allowed', 'gitops: { namespaces: [a], manifest_projects: [{ default_namespace: b }] }', /not among/],
    ['a level that is none', 'observability: { logging: { level: loud } }', /one of info, debug, warn, error/],
    ['access as nobody', 'ci_access: { projects: [{ id: a/b, access_as: {} }] }', /needs one of agent, impersonate, ci_job/],
    ['access without a name', 'ci_access: { groups: [{ id: a, access_as: { impersonate: {} } }] }', /username is missing/],
    ['people without a way', 'user_access: { projects: [{ id: a/b }] }', /user_access.access_as is missing/],
    ['a key of an empty message', 'user_access: { access_as: { user: { x: 1 } } }', /leave it out/],
    ['scans without a rhythm', 'container_scanning: {}', /cadence is missing/],
    ['no time at all', 'remote_development: { full_sync_interval: 0s }', /more than 0s/],
    ['a second document', 'gitops: {}\n---\nflux: {}\n', /second document/],
    ['a key twice', 'flux: {}\nflux: {}\n', /unique/],
    ['no YAML', 'gitops: [', /./],
    ['an anchor in itself', 'gitops: &a { manifest_projects: *a }', /alias/],
    ['too deep', `gitops: ${'['.repeat(60)}`, /nested/],
  ]
  for (const [why, text, said] of wrong)
    it(`refuses ${why}`, () => {
      const found = mistakesOf(text)
      is(found.length, 1, found.join('\n'))
      match(found[0] ?? '', said)
    })

  it('reads what aliases and merge keys stand for', () => {
    const text = 'gitops:\n  manifest_projects:\n  - &a { id: x/y, prune: false }\n  - { <<: *a, id: x/z }\n'
    equal(
      projectsOf(text).map(({ id, prune }) => [id, prune]),
      [
        ['x/y', false],
        ['x/z', false],
      ],
    )
  })

  it('refuses what is too large, is no text, or becomes too large', () => {
    match(mistakesOf('#'.repeat(128 * 1024 + 1))[0] ?? '', 'at most 131072')
    is(mistakesOf('#'.repeat(128 * 1024)).length, 0)
    match(parseConfigurationFile(Uint8Array.of(0xff, 0xfe), '').mistakes?.[0]?.message ?? '', 'UTF-8')
    const bomb = Array.from({ length: 12 }, (_, i) => `a${i}: &a${i} [${new Array(9).fill(i ? `*a${i - 1}` : 'x').join(', ')}]`)
    match(mistakesOf(bomb.join('\n'))[0] ?? '', 'alias')
  })

  it('reads a hostile file in little time, and answers little', () => {
    const spent = effort()
    const aliases = `gitops: &a\n  namespaces: [${'*a,'.repeat(30_000)}]`
    for (const text of [
      aliases,
      'a:\n'.repeat(40_000),
      '- a\n'.repeat(30_000),
      '{'.repeat(100_000),
      `x: ${'"a",'.repeat(30_000)}`,
    ]) {
      ok(mistakesOf(text).join('').length < 100_000)
    }
    ok(spent() < 10_000, `${spent()} ms`)
  })
})
