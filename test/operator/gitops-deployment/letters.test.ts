import { createHmac } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { CoreSecret, GitOpsDeployment } from '../../../src/api/index.ts'
import { letterFor, placeOf } from '../../../src/operator/gitops-deployment/notify/letters.ts'
import type { Notification, Result } from '../../../src/operator/gitops-deployment/notify/news.ts'
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

interface Written {
  repoURL?: string
  result?: Result
  message?: string
  template?: NonNullable<Notification['template']>
  since?: string
  author?: string
  subject?: string
}

const AT = '2030-01-01T00:00:00Z'
const write = (
  kind: Notification['kind'],
  contents: Record<string, string>,
  { repoURL = 'https://git.example.com/team-a/shop.git', result = 'Succeeded', message, template, since, ...about }: Written = {},
) =>
  letterFor(
    { kind, ...(template && { template }) },
    { deployment: deployment(repoURL, message), commit: { revision: REVISION, ...about }, result, since, at: AT },
    secret(contents),
  )

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

const HOOK = { url: 'https://hooks.example.com/x' }
const HOSTILE = {
  result: 'Degraded' as const,
  message: 'Pod <!channel> is @here & "gone"',
  author: 'A*n*n [x](https://evil)',
  subject: '@all <https://evil|click> `x`',
}
const SUBJECT_LINE = 'c0ffee000000 @all <https://evil|click> `x` (A*n*n [x](https://evil))'

describe('a letter to a chat', (it) => {
  const bodyOf = (kind: Notification['kind'], written: Written) => JSON.parse(write(kind, HOOK, written).body)

  it('is what the incoming webhook of Slack takes, where strangers can call nobody', () => {
    assert.equal(bodyOf('Slack', HOSTILE), {
      text: 'team-a/shop: Degraded',
      attachments: [
        {
          color: 'danger',
          blocks: [
            { type: 'section', text: { type: 'plain_text', text: 'Pod &lt;!channel&gt; is @here &amp; "gone"' } },
            {
              type: 'context',
              elements: [
                {
                  type: 'plain_text',
                  text: 'c0ffee000000 @all &lt;https://evil|click&gt; `x` (A*n*n [x](https://evil))',
                },
              ],
            },
          ],
        },
      ],
    })
  })

  it('is a card for the Workflows webhook of Teams, in whose text there is no markup', () => {
    const run = (text: string, look: object = {}) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, ...look }] })
    assert.equal(bodyOf('Teams', HOSTILE), {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            msteams: { width: 'Full' },
            body: [
              run('team-a/shop: Degraded', { weight: 'Bolder', size: 'Medium', color: 'Attention' }),
              run(HOSTILE.message),
              run(SUBJECT_LINE, { isSubtle: true }),
            ],
          },
        },
      ],
    })
  })

  it('is what the incoming webhook of Mattermost takes, where strangers mention nobody', () => {
    assert.equal(bodyOf('Mattermost', HOSTILE), {
      text: 'team-a/shop: Degraded',
      attachments: [
        {
          fallback: 'team-a/shop: Degraded',
          color: 'danger',
          text: 'Pod \\<\\!channel\\> is @\u200bhere \\& "gone"',
          footer: 'c0ffee000000 @\u200ball <https://evil|click> `x` (A*n*n [x](https://evil))',
        },
      ],
    })
  })

  it('names the commit alone where nobody knows who wrote it, and is short whatever there is to say', () => {
    const { attachments } = bodyOf('Slack', { result: 'Recovered', message: '&'.repeat(5000) })
    const [{ color, blocks }] = attachments
    assert.is(color, 'good')
    assert.is(blocks[0].text.text, `${'&amp;'.repeat(600)}…`)
    assert.is(blocks[1].elements[0].text, 'c0ffee000000')
  })

  it('needs the url alone of its Secret', () => {
    for (const kind of ['Slack', 'Teams', 'Mattermost'] as const) {
      assert.equal(write(kind, HOOK).headers, { 'content-type': 'application/json' })
      assert.throws(
        () => write(kind, {}),
        (thrown: unknown) => isFailure(thrown, 'invalid') && /no key url/.test(thrown.message),
      )
    }
  })
})

describe('a letter about what became of a commit', (it) => {
  const contents = { ...HOOK, secret: 'shh' }
  it('says to a webhook who wrote it, after all that was there before', () => {
    const { body } = write('Webhook', contents, { result: 'Recovered', author: 'Ann', subject: 'Mend "it"' })
    assert.is(
      body,
      `{"deployment":"team-a/shop","repository":"https://git.example.com/team-a/shop.git","revision":"${REVISION}","path":"deploy",` +
        `"result":"recovered","reason":"Synced","message":"Commit c0ffee is in effect and healthy.","at":"${AT}",` +
        '"author":"Ann","subject":"Mend \\"it\\""}',
    )
  })

  it('is another delivery for each trouble of one commit', () => {
    const delivery = (since: string) => write('Webhook', contents, { result: 'Degraded', since }).headers['x-berth-delivery']
    assert.is(delivery('1'), delivery('1'))
    assert.is.not(delivery('1'), delivery('2'))
    const usual = (since?: string) => write('Webhook', contents, { ...(since && { since }) }).headers['x-berth-delivery']
    assert.is(usual('1'), usual())
  })

  it('sets the status of the commit at a Git host to that', () => {
    const stateOf = (kind: 'GitHub' | 'GitLab', result: Result) =>
      JSON.parse(write(kind, { token: 't' }, { result, repoURL: 'https://gitlab.example.com/a/b' }).body).state
    assert.equal(
      [stateOf('GitHub', 'Degraded'), stateOf('GitLab', 'Degraded'), stateOf('GitHub', 'Recovered')],
      ['failure', 'failed', 'success'],
    )
  })
})

describe('a letter by template', (it) => {
  const hostile = { author: '"},{"x":"', subject: '${author} a&b=c\u0007', result: 'Failed' as const }
  const bodyOf = (template: Written['template'], written: Written = hostile) =>
    write('Webhook', HOOK, { ...written, ...(template && { template }) }).body

  it('puts values into the texts of JSON, where none of them can end', () => {
    const body =
      '{"to": ["ops@example.com"], "n": 1, "${author}": true, "text": "${author} wrote ${subject}: ${result}, $${result}"}'
    assert.equal(JSON.parse(bodyOf({ body })), {
      to: ['ops@example.com'],
      n: 1,
      '${author}': true,
      text: '"},{"x":" wrote ${author} a&b=c\\u0007: failed, ${result}',
    })
  })

  it('puts them into the values of a form, and into plain text', () => {
    const form = { contentType: 'application/x-www-form-urlencoded' as const, body: 'to=ops%40example.com&text=${subject}!\n' }
    assert.equal(
      [...new URLSearchParams(bodyOf(form))],
      [
        ['to', 'ops@example.com'],
        ['text', '${author} a&b=c\\u0007!'],
      ],
    )
    assert.is(bodyOf({ contentType: 'text/plain', body: '${summary} ${subject}' }), 'team-a/shop: Failed ${author} a&b=c\\u0007')
  })

  it('has the headers of the Secret, and a signature where there is a key for it', () => {
    const template = { body: '{}' }
    const headers = 'Authorization: Bearer t0ken\r\nX-Title: a b\n'
    assert.equal(Object.keys(write('Webhook', HOOK, { template }).headers), ['content-type', 'x-berth-event', 'x-berth-delivery'])
    const letter = write('Webhook', { ...HOOK, headers, secret: 'shh' }, { template })
    assert.equal(
      [letter.headers.authorization, letter.headers['x-title'], letter.headers['content-type']],
      ['Bearer t0ken', 'a b', 'application/json'],
    )
    const signature = createHmac('sha256', 'shh').update(letter.body).digest('hex')
    assert.is(letter.headers['x-berth-signature-256'], `sha256=${signature}`)
  })

  const refusals: [why: string, written: Written['template'], secret: Record<string, string>, said: RegExp][] = [
    ['a name is unknown', { body: '{"a": "${autor}"}' }, {}, /^template\.body has \$\{autor\}, which is unknown$/],
    ['a name has no end', { body: '{"a": "${author"}' }, {}, /^template\.body has \$\{author, which is unknown$/],
    ['it is no JSON', { body: '{"a": ${author}}' }, {}, /^template\.body is no JSON$/],
    ['it is too deep', { body: '['.repeat(4000) + ']'.repeat(4000) }, {}, /^template\.body is nested more than 64 deep$/],
    [
      'it grows too long',
      { contentType: 'text/plain', body: '${message}'.repeat(800) },
      {},
      /^template\.body becomes longer than 65536/,
    ],
    ['a header is none', { body: '{}' }, { headers: 'authorization: x\nt0ken' }, /^line 2 of its key headers is no header$/],
    [
      'a header is ours',
      { body: '{}' },
      { headers: 'Content-Length: 1' },
      /^line 1 of its key headers is a header that Berth sets$/,
    ],
  ]
  for (const [why, template, more, said] of refusals)
    it(`is refused when ${why}, without a word of what is secret`, () => {
      try {
        write('Webhook', { ...HOOK, ...more }, { message: 'x'.repeat(500), ...(template && { template }) })
        assert.unreachable()
      } catch (failure) {
        assert.ok(isFailure(failure, 'invalid'))
        assert.match(failure.message, said)
        assert.not.match(`${failure.message} ${failure.remedy}`, /t0ken/)
      }
    })
})
