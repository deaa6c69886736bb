import { equal, is, ok } from 'uvu/assert'
import { bringUp, type Installation, sourceOf } from './hostile/installation.ts'
import { otlpReceiver } from './support/otlp-receiver.ts'
import { describe } from './support/suite.ts'
import { eventually } from './support/verbs.ts'

const configMap = (value: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'traced' }, data: { value } })

describe('the trace of a commit', (it) => {
  let receiver: Awaited<ReturnType<typeof otlpReceiver>>
  let site: Installation
  it.before(async () => {
    receiver = await otlpReceiver()
    site = await bringUp(['team-a'], {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-token=s3cret',
    })
  })
  it.after(async () => {
    await site?.stop()
    await receiver?.close()
  })

  it('leads from its push to what is in effect and healthy, through kas, the operator and an agent', async () => {
    const repository = await site.repository('team-a', 'shop', {
      'app/map.json': configMap('one'),
      '.berth/agents/dev/config.yaml':
        'gitops: { manifest_projects: [{ id: team-a/shop, default_namespace: team-a, paths: [{ glob: agent/*.json }] }] }',
      'agent/map.json': { ...configMap('one'), metadata: { name: 'by-agent' } },
    })
    await site.agent('team-a', 'dev', { path: 'team-a/shop' })
    await site.follow('team-a', 'shop', { source: sourceOf(repository.url, { path: 'app' }) })
    await site.told('team-a', 'shop', /"reason":"Synced","status":"True"/)
    const commit = await repository.commit({
      'app/map.json': JSON.stringify(configMap('two')),
      'agent/map.json': JSON.stringify({ ...configMap('two'), metadata: { name: 'by-agent' } }),
    })
    const spans = () => receiver.spans.filter(({ trace }) => trace === commit.slice(0, 32))
    const seen = () => new Set(spans().map(({ service, name }) => `${service} ${name}`))
    const wanted = [
      ...['berth-kas push', 'berth-kas fetch'],
      ...['berth-operator sync', 'berth-operator apply', 'berth-operator health'],
      ...['berth-agent sync', 'berth-agent render', 'berth-agent apply'],
    ]
    await eventually(() => wanted.every((each) => seen().has(each)))
    const roots = spans().filter(({ parent }) => parent === undefined)
    equal(
      roots.map(({ name, attributes }) => [name, attributes]),
      [
        [
          'push',
          {
            'berth.owner': 'GitProject team-a/shop',
            ...{ 'vcs.ref.head.name': 'main', 'vcs.ref.head.type': 'branch', 'vcs.ref.head.revision': commit },
          },
        ],
      ],
    )
    const ids = new Set(spans().map(({ id }) => id))
    for (const { name, parent, began, ended } of spans()) {
      ok(parent === undefined || ids.has(parent), name)
      ok(ended >= began, name)
    }
    const [push] = roots
    for (const { name, ended } of spans()) ok(ended >= (push?.began ?? Number.POSITIVE_INFINITY), `${name} after the push`)
    const sync = spans().find(({ name, service }) => name === 'sync' && service === 'berth-operator')
    equal(sync?.attributes, { 'berth.owner': 'GitOpsDeployment team-a/shop', 'berth.objects.configured': 1 })
    for (const program of ['kas', 'operator'])
      is(site.logOf(program).includes(`"trace_id":"${commit.slice(0, 32)}"`), true, program)
    equal(new Set(receiver.requests.map(({ headers }) => headers['x-token'])), new Set(['s3cret']))
  })

  it('ends where it fails, with the reason and without what was in the way', async () => {
    const repository = await site.repository('team-a', 'broken', {
      'map.json': { ...configMap('x'), metadata: { name: 'Not A Name' } },
    })
    await site.follow('team-a', 'broken', { source: sourceOf(repository.url) })
    const span = await eventually(() =>
      receiver.spans.find(
        ({ name, attributes }) => name === 'sync' && attributes['berth.owner'] === 'GitOpsDeployment team-a/broken',
      ),
    )
    equal([span.error, span.attributes['berth.objects.failed']], ['ApplyFailed', 1])
    is(JSON.stringify(span).includes('Not A Name'), false)
  })
})
