import type { CardScheme } from '../card-schemes.ts'

export interface CardRange {
  scheme: CardScheme
  /** Other schemes on the same card. */
  additionalSchemes?: readonly CardScheme[]
  lengths: readonly number[]
  usesLuhn: boolean
  /** With spaces between: a prefix (`4571`), or the first and the last of several of one length (`2221-2720`). */
  prefixes: string
}

const sixteen = [16]
const upTo19 = [16, 17, 18, 19]

/**
 * Which scheme a number belongs to, as far as public documents say; longer prefixes win over shorter ones. Compared in
 * November 2026: ISO/IEC 7812 allocations as collected by Wikipedia ("Payment card number"); the range tables that
 * Discover Global Network and Mastercard publish for acquirers; Elo's list of BINs; the tables in the open source
 * libraries ActiveMerchant and credit-card-type. Where they disagree the comment says what was chosen.
 *
 * Not here, because no public prefix is theirs alone, but in the operator's BIN file (docs/bin-file.md): accel, cirrus,
 * culiance, eftpos-australia, nyce, pulse, qcard, star, and the co-badges of Visa and Mastercard cards.
 */
export const cardRanges: readonly CardRange[] = [
  { scheme: 'visa', lengths: [13, 16, 18, 19], usesLuhn: true, prefixes: '4' },
  // Visa/Dankort: Visa abroad, Dankort in Denmark.
  { scheme: 'visa', additionalSchemes: ['dankort'], lengths: sixteen, usesLuhn: true, prefixes: '4571' },
  { scheme: 'mastercard', lengths: sixteen, usesLuhn: true, prefixes: '51-55 2221-2720' },
  { scheme: 'amex', lengths: [15], usesLuhn: true, prefixes: '34 37' },
  // 14 digits of old; Discover's table allows up to 19. 54 and 55 of North America are Mastercard numbers.
  { scheme: 'diners-club', lengths: [14, 15, 16, 17, 18, 19], usesLuhn: true, prefixes: '300-305 3095 36 38-39' },
  { scheme: 'discover', lengths: upTo19, usesLuhn: true, prefixes: '6011 644-649 65' },
  // Verve, of Nigeria, is not one of our schemes; without this line it would be Discover.
  { scheme: 'other', lengths: [16, 18, 19], usesLuhn: true, prefixes: '650002-650027' },
  // The short ranges are in Discover's table. 2131 and 1800 with 15 digits are long out of use. Cards that are RuPay too
  // are among 353 and 356, together with many that are not.
  {
    scheme: 'jcb',
    lengths: upTo19,
    usesLuhn: true,
    prefixes: '3528-3589 3088-3094 3096-3102 3112-3120 3158-3159 3337-3349',
  },
  // 622126-622925, 624-626 and 6282-6288 are UnionPay cards that Discover's network carries in North America; what is
  // printed on them is UnionPay, so that is what they are here. Not all of its banks use the check digit.
  { scheme: 'unionpay', lengths: upTo19, usesLuhn: false, prefixes: '62 8100-8171' },
  // 81 and 82 without what Discover's table gives to UnionPay; of 60 and 65 only the ranges that are surely RuPay's.
  {
    scheme: 'rupay',
    lengths: sixteen,
    usesLuhn: true,
    prefixes: '508500-508999 606985-607984 608001-608500 652150-653149 8172-8199 82',
  },
  { scheme: 'mir', lengths: upTo19, usesLuhn: true, prefixes: '2200-2204' },
  { scheme: 'uatp', lengths: [15], usesLuhn: true, prefixes: '1' },
  { scheme: 'dankort', lengths: sixteen, usesLuhn: true, prefixes: '5019' },
  // Belgian cards are Maestro abroad, as long as Maestro lasts. Usually 17 digits.
  { scheme: 'bancontact', additionalSchemes: ['maestro'], lengths: upTo19, usesLuhn: true, prefixes: '6703' },
  // Cards that are CB and nothing else (ActiveMerchant; Mastercard leaves 581752 out of Maestro). Most CB cards are Visa
  // or Mastercard numbers.
  {
    scheme: 'carte-bancaire',
    lengths: sixteen,
    usesLuhn: true,
    prefixes: '507589-507590 507593-507595 507597 560408 581752 585402-585405 585501-585505 585577-585582',
  },
  // Mastercard's table. Older lists say all of 50 and 56 to 69, which holds many cards that are not Maestro.
  {
    scheme: 'maestro',
    lengths: [12, 13, 14, 15, 16, 17, 18, 19],
    usesLuhn: true,
    prefixes:
      '5018 5020 5038 561200-561269 561271-561299 561320-561356 581700-581751 581753-581800 5893 589998-591259 ' +
      '591261-596770 596772-598744 598746-599999 600297-600314 600316-600335 600337-600362 600364-600382 ' +
      '601232-601254 601256-601276 601640-601652 601689-601700 602011-602048 602050 6304 6390 67',
  },
  // Elo numbers lie inside Visa, Discover and UnionPay. The union of the lists: they differ at the edges in 6500 to 6516.
  {
    scheme: 'elo',
    lengths: sixteen,
    usesLuhn: true,
    prefixes:
      '401178-401179 431274 438935 451416 457393 457631-457632 504175 506699-506778 509000-509999 627780 ' +
      '636297-636298 636368 650031-650033 650035-650051 650057-650081 650405-650439 650485-650538 650541-650598 ' +
      '650700-650718 650720-650727 650901-650978 651652-651704 655000-655019 655021-655058',
  },
  // With Hiper (637…), its sister of the same bank, for which there is no name of its own. 3841… lies inside Diners Club.
  // Some of its numbers have no check digit.
  {
    scheme: 'hipercard',
    lengths: [13, 16, 19],
    usesLuhn: false,
    prefixes: '384100 384140 384160 606282 637095 63737423 63743358 637568 637599 637609 637612',
  },
]
