import { type Facts, linesOf } from './facts.ts'

export type Chat = 'Slack' | 'Teams' | 'Mattermost'

/**
 * The message that the incoming webhook of each chat takes. What a commit and a cluster say stands in it as it is: it links nothing,
 * and calls nobody.
 */
export const CHATS: Record<Chat, (facts: Facts, isGood: boolean) => object> = {
  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  Slack(facts, isGood) {
    const { title, text, commit } = linesOf(facts)
    const plain = (of: string) => ({ type: 'plain_text', text: withoutEntities(of) })
    const blocks = [
      ...(text === '' ? [] : [{ type: 'section', text: plain(text) }]),
      { type: 'context', elements: [plain(commit)] },
    ]
    return { text: withoutEntities(title), attachments: [{ color: isGood ? 'good' : 'danger', blocks }] }
  },
  // https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook
  Teams(facts, isGood) {
    const { title, text, commit } = linesOf(facts)
    // Of all elements this one has no markup.
    const plain = (of: string, look: object = {}) => ({
      type: 'RichTextBlock',
      inlines: [{ type: 'TextRun', text: of, ...look }],
    })
    const body = [
      plain(title, { weight: 'Bolder', size: 'Medium', color: isGood ? 'Good' : 'Attention' }),
      ...(text === '' ? [] : [plain(text)]),
      plain(commit, { isSubtle: true }),
    ]
    const $schema = 'http://adaptivecards.io/schemas/adaptive-card.json'
    const content = { $schema, type: 'AdaptiveCard', version: '1.4', msteams: { width: 'Full' }, body }
    return {
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
    }
  },
  // https://developers.mattermost.com/integrate/reference/message-attachments
  Mattermost(facts, isGood) {
    const { title, text, commit } = linesOf(facts)
    const look = { color: isGood ? 'good' : 'danger', text: withoutMarkdown(text), footer: withoutMentions(commit) }
    return { text: withoutMarkdown(title), attachments: [{ fallback: withoutMentions(title), ...look }] }
  },
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** `<!channel>` and `<https://…|a name>` are written with these. */
const withoutEntities = (text: string): string => text.replaceAll(/[&<>]/g, (one) => ENTITIES[one] ?? one)

/** A space of no width makes a name another one. */
const withoutMentions = (text: string): string => text.replaceAll('@', '@\u200b')

const withoutMarkdown = (text: string): string => withoutMentions(text.replaceAll(/[\\`*_{}[\]()#!|~<>&]/g, '\\$&'))
