import * as assert from 'uvu/assert'
import type { Workspace } from '../../../../src/api/index.ts'
import { hostTemplateOf, publishedPorts } from '../../../../src/operator/workspace/desired/hosts.ts'
import { describe } from '../../../support/suite.ts'

const workspace = (namespace: string, name: string): Workspace => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name, namespace },
  spec: {},
})
const hostOf = (namespace: string, name: string) =>
  hostTemplateOf(workspace(namespace, name), { dnsZone: 'example.com' })?.replace('{{.port}}', '65535') ?? ''

describe('workspace: host names', (it) => {
  it('differ between namespaces, also where names could run into one another', () => {
    const hosts = [hostOf('team-a', 'web'), hostOf('team-b', 'web'), hostOf('a', 'b-c'), hostOf('a-b', 'c'), hostOf('a', 'b')]
    assert.is(new Set(hosts).size, hosts.length)
  })

  it('are always the same for the same workspace, made again or not', () => {
    assert.is(hostOf('team-a', 'web'), '65535-web-1qmtbjcdi78k.example.com')
  })

  it('are valid labels for the longest names, and differ where only the end of the name does', () => {
    const long = 'w'.repeat(62)
    const [one = '', other = ''] = [hostOf('team-a', `${long}1`), hostOf('team-a', `${long}2`)].map((host) => host.split('.')[0])
    assert.is.not(one, other)
    for (const label of [one, other, hostOf('team-a', `${'w'.repeat(43)}-${'x'.repeat(10)}`).split('.')[0] ?? '']) {
      assert.match(label, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
      assert.ok(label.length <= 63, `${label} has ${label.length} characters`)
    }
  })

  it('mean one port each, though pods beside the workspace have the same number', () => {
    const port = (name: string, number: number) => ({ name, port: number, isPublic: true, isUdp: false, path: '' })
    const published = publishedPorts([port('app', 80), port('shop', 80), port('web', 81)], '{{.port}}-a.example.com')
    assert.equal(
      published.map(({ name, url }) => `${name} ${url}`),
      ['app https://80-a.example.com/', 'shop undefined', 'web https://81-a.example.com/'],
    )
  })

  it('are not given where the class has no zone', () => {
    assert.is(hostTemplateOf(workspace('team-a', 'web'), {}), undefined)
  })
})
