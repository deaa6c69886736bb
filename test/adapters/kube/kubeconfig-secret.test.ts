import * as assert from 'uvu/assert'
import { readTarget } from '../../../src/adapters/kube/index.ts'
import { Failure, isFailure, Secret } from '../../../src/std/index.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const TOKEN = 'canary-token-4711'

const kubeconfig = ({ cluster = {}, user = {} }: { cluster?: object; user?: object } = {}) =>
  new Secret(
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://API.example:6443', ...cluster } }],
      users: [{ name: 'u', user: { token: TOKEN, ...user } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  )

const refusal = (config: Secret<string>, server?: string): Failure => {
  try {
    readTarget(config, { server })
  } catch (thrown) {
    if (isFailure(thrown)) return thrown
  }
  throw new Failure('internal', 'it was taken')
}

describe('a kubeconfig that somebody else wrote', (it) => {
  it('gives server, CA and token', () => {
    const { server, token } = readTarget(kubeconfig())
    assert.is(server, 'https://API.example:6443')
    assert.is(token.reveal(), TOKEN)
  })

  it('is found by its server, whatever the case', () => {
    assert.is(readTarget(kubeconfig(), { server: 'https://api.EXAMPLE:6443' }).server, 'https://API.example:6443')
  })

  const dangerous: { why: string; config: Secret<string>; field: RegExp }[] = [
    { why: 'exec runs a program on our side', config: kubeconfig({ user: { exec: { command: 'sh' } } }), field: /user\.exec/ },
    { why: 'auth providers do too', config: kubeconfig({ user: { 'auth-provider': { name: 'gcp' } } }), field: /auth-provider/ },
    { why: 'tokenFile reads our files', config: kubeconfig({ user: { tokenFile: '/etc/passwd' } }), field: /tokenFile/ },
    {
      why: 'so does client-certificate',
      config: kubeconfig({ user: { 'client-certificate': '/x' } }),
      field: /client-certificate/,
    },
    { why: 'so does client-key', config: kubeconfig({ user: { 'client-key': '/x' } }), field: /client-key/ },
    {
      why: 'so does certificate-authority',
      config: kubeconfig({ cluster: { 'certificate-authority': '/x' } }),
      field: /certificate-authority/,
    },
    {
      why: 'a proxy sends our requests somewhere else',
      config: kubeconfig({ cluster: { 'proxy-url': 'http://x' } }),
      field: /proxy-url/,
    },
    { why: 'impersonation would make its errors ours', config: kubeconfig({ user: { as: 'admin' } }), field: /user\.as/ },
  ]
  for (const { why, config, field } of dangerous) {
    it(`is refused: ${why}`, () => {
      const failure = refusal(config)
      assert.is(failure.code, 'invalid')
      assert.match(failure.message, field)
    })
  }

  it('is refused without a token, without the server, and when it is not YAML, each with its reason', () => {
    assert.is(refusal(kubeconfig({ user: { token: '' } })).reason, 'UnableToCreateClient')
    assert.is(refusal(kubeconfig(), 'https://other.example').reason, 'UnableToLocateContext')
    assert.is(refusal(new Secret('a: b: c: [')).reason, 'UnableToParseKubeconfigData')
    assert.is(refusal(new Secret('just text')).reason, 'UnableToParseKubeconfigData')
    assert.is(refusal(new Secret('a: 1\n---\nb: 2\n')).reason, 'UnableToParseKubeconfigData')
    assert.match(refusal(new Secret('[]: x\n'.repeat(10_000))).message, 'is too large')
  })

  it('of forty clusters is read, and one of thousands of values costs little', () => {
    const each = (of: (n: number) => string) => Array.from({ length: 40 }, (_, n) => of(n)).join('')
    const ca = 'A'.repeat(1500)
    const clusters = each(
      (n) => `- cluster:\n    certificate-authority-data: ${ca}\n    server: https://c${n}.example\n  name: c${n}\n`,
    )
    const contexts = each((n) => `- context:\n    cluster: c${n}\n    namespace: default\n    user: u${n}\n  name: c${n}\n`)
    const users = each((n) => `- name: u${n}\n  user:\n    token: ${TOKEN}\n`)
    const whole = `apiVersion: v1\nkind: Config\ncurrent-context: c39\nclusters:\n${clusters}contexts:\n${contexts}users:\n${users}`
    assert.is(readTarget(new Secret(whole)).server, 'https://c39.example')
    const spent = effort()
    for (let times = 0; times < 10; times++)
      assert.match(refusal(new Secret(`${whole}more: [${'{},'.repeat(8000)}]\n`)).message, 'is too large')
    // Of the CPU, in milliseconds.
    const took = spent()
    assert.ok(took < 2000, `took ${Math.round(took)} ms`)
  })

  it('never shows its token in an error', () => {
    const broken = new Secret(`users: [{token: ${TOKEN}}, : ]]`)
    const failure = refusal(broken)
    assert.not.match(`${failure.message} ${failure.stack} ${JSON.stringify(failure)} ${String(failure.cause)}`, TOKEN)
    assert.is(`${kubeconfig()}`, '***')
  })
})
