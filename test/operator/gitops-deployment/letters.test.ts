import { createHmac } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { CoreSecret, GitOpsDeployment } from '../../../src/api/index.ts'
import { letterFor, type Notification, placeOf } from '../../../src/operator/gitops-deployment/notify/letters.ts'
import { newsIn, outcomeAfter } from '../../../src/operator/gitops-deployment/status/outcome.ts'
import { isFailure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const REVISION = 'c0ffee'.padEnd(40, '0')

const deployment = (repoURL: string, message = 'Commit c0ffee is in effect and healthy.'): GitOpsDeployment => ({
  apiVersion: 'managed-gitops.redhat.com/v1alpha1',
  kind: 'GitOpsDeployment',
  metadata: { name: 'shop', namespace: 'team-a', uid: 'uid-1' },
  spec: { source: { repoURL, path: 'deploy' }, type: 'automated' },
  status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Synced', message, lastTransitionTime: '' }] },
})

const secret = (contents: Record<string, string>): CoreSecret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'hook', namespace: 'team-a' },
  data: Object.fromEntries(Object.entries(contents).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
})

const AT = '2030-01-01T00:00:00Z'
const write = (
  kind: Notification['kind'],
  contents: Record<string, string>,
  {
    repoURL = 'https://git.example.com/team-a/shop.git',
    result = 'Succeeded',
    message,
  }: { repoURL?: string; result?: 'Succeeded' | 'Failed'; message?: string } = {},
) =>
  letterFor(kind, { deployment: deployment(repoURL, message), outcome: { revision: REVISION, result }, at: AT }, secret(contents))

const STATUSES: {
  why: string
  kind: Notification['kind']
  repoURL: string
  api?: string
  url: string
  header: [name: string, value: string]
  failed: string
}[] = [
  {
    why: 'GitHub itself',
    kind: 'GitHub',
    repoURL: 'https://github.com/team-a/shop.git',
    url: `https://api.github.com/repos/team-a/shop/statuses/${REVISION}`,
    header: ['authorization', 'Bearer t0ken'],
    failed: 'failure',
  },
  {
    why: 'a GitHub of somebody',
    kind: 'GitHub',
    repoURL: 'git@git.example.com:team-a/shop.git',
    url: `https://git.example.com/api/v3/repos/team-a/shop/statuses/${REVISION}`,
    header: ['authorization', 'Bearer t0ken'],
    failed: 'failure',
  },
  {
    why: 'GitLab, whose projects lie in groups of groups',
    kind: 'GitLab',
    repoURL: 'https://gitlab.example.com/a/b/shop.git',
    url: `https://gitlab.example.com/api/v4/projects/a%2Fb%2Fshop/statuses/${REVISION}`,
    header: ['private-token', 't0ken'],
    failed: 'failed',
  },
  {
    why: 'GitLab by SSH, with another API',
    kind: 'GitLab',
    repoURL: 'ssh://git@gitlab.example.com:2222/a/shop',
    api: 'https://api.gitlab.example.com/v4/',
    url: `https://api.gitlab.example.com/v4/projects/a%2Fshop/statuses/${REVISION}`,
    header: ['private-token', 't0ken'],
    failed: 'failed',
  },
  {
    why: 'Gitea on a port of its own',
    kind: 'Gitea',
    repoURL: 'https://git.example.com:3000/team-a/shop/',
    url: `https://git.example.com:3000/api/v1/repos/team-a/shop/statuses/${REVISION}`,
    header: ['authorization', 'token t0ken'],
    failed: 'failure',
  },
]

describe('a letter about an outcome', (it) => {
  for (const { why, kind, repoURL, api, url, header, failed } of STATUSES)
    it(`sets the status of the commit: ${why}`, () => {
      const contents = { token: 't0ken\n', ...(api && { url: api }) }
      const letter = write(kind, contents, { repoURL })
      assert.is(letter.url.href, url)
      assert.is(letter.headers[header[0]], header[1])
      const body = JSON.parse(letter.body)
      assert.equal([body.state, body.context], ['success', 'berth/team-a/shop'])
      assert.is(JSON.parse(write(kind, contents, { repoURL, result: 'Failed' }).body).state, failed)
    })

  it('says all to a webhook, signed with its secret', () => {
    const contents = { url: 'https://hooks.example.com/x', secret: 'shh' }
    const letter = write('Webhook', contents, { repoURL: 'https://user:pass@git.example.com/team-a/shop' })
    assert.equal(JSON.parse(letter.body), {
      deployment: 'team-a/shop',
      repository: 'https://***@git.example.com/team-a/shop',
      revision: REVISION,
      path: 'deploy',
      result: 'succeeded',
      reason: 'Synced',
      message: 'Commit c0ffee is in effect and healthy.',
      at: AT,
    })
    const signature = createHmac('sha256', 'shh').update(letter.body).digest('hex')
    assert.is(letter.headers['x-berth-signature-256'], `sha256=${signature}`)
    assert.not.match(`${letter.body}${JSON.stringify(letter.headers)}`, /shh/)
  })

  it('has the same delivery for the same news, and another for other news', () => {
    const contents = { url: 'https://hooks.example.com/x', secret: 'shh' }
    const delivery = (result: 'Succeeded' | 'Failed') => write('Webhook', contents, { result }).headers['x-berth-delivery']
    assert.is(delivery('Failed'), delivery('Failed'))
    assert.is.not(delivery('Failed'), delivery('Succeeded'))
  })

  it('is as short as a Git host wants it', () => {
    const { description } = JSON.parse(write('GitHub', { token: 't' }, { message: 'x'.repeat(500) }).body)
    assert.is(description.length, 140)
  })

  for (const [kind, contents, key] of [
    ['Webhook', { url: 'https://hooks.example.com' }, 'secret'],
    ['Webhook', { secret: 's' }, 'url'],
    ['GitHub', {}, 'token'],
  ] as const)
    it(`names the key ${key} when the Secret for ${kind} lacks it`, () => {
      try {
        write(kind, contents)
        assert.unreachable()
      } catch (failure) {
        assert.ok(isFailure(failure, 'invalid'))
        assert.match(failure.message, new RegExp(`no key ${key}`))
      }
    })

  it('says so when a token cannot be one, without quoting it', () => {
    try {
      write('GitHub', { token: 'two\nlines' })
      assert.unreachable()
    } catch (failure) {
      assert.ok(isFailure(failure, 'invalid'))
      assert.match(failure.message, /its key token has/)
      assert.not.match(failure.message, /two|lines/)
    }
  })

  it('knows where a repository is, however its URL is written', () => {
    const same = { origin: 'https://git.example.com', project: 'a/b' }
    for (const url of ['https://git.example.com/a/b', 'https://u@git.example.com/a/b.git/', 'git@git.example.com:a/b.git'])
      assert.equal(placeOf(url), same, url)
  })
})

describe('news', (it) => {
  const one = { revision: 'a', result: 'Succeeded' } as const
  const failed = { revision: 'a', result: 'Failed' } as const

  it('is an outcome that was not there before', () => {
    assert.equal(newsIn(undefined, one), one)
    assert.is(newsIn(one, one), undefined)
    assert.is(newsIn(one, undefined), undefined)
    assert.equal(newsIn(failed, one), one)
    assert.equal(newsIn(one, { ...one, revision: 'b' }), { ...one, revision: 'b' })
  })

  it('is not that a commit fails which has succeeded', () => {
    assert.is(newsIn(one, outcomeAfter(one, failed)), undefined)
    assert.equal(outcomeAfter(one, { ...failed, revision: 'b' }), { ...failed, revision: 'b' })
  })
})
