// The syntax of Tercet (language.md sections 2, 3, 4 and 7).
//
// Between lexer and parser stands token_filter.cpp, which makes the tokens of the `tokens` block out of the lexer's:
// it decides which line breaks end a statement, which words are names, which parentheses open a lambda, and so on.
// With its help every decision of the parser below needs ONE token of lookahead: no prediction runs, no input is
// ambiguous, and time and stack depend only on size and bracket depth (cmake/antlr.cmake checks that the generated
// parser never calls adaptivePredict). For the same reason the precedence levels of operators are not rules: an
// `operation` is a flat list that operators.cpp groups by its table of levels.
grammar Tercet;

options { superClass = TercetParserBase; }
@parser::postinclude {
#include "grammar/parser_base.h"
}

tokens {
  SEPARATOR,        // a line break or `;` that ends a statement; never doubled, never next to a brace
  ARGUMENT_NAME,    // a word before `=` in a call, record, parameter list or transform bracket
  LAMBDA_NAME,      // `x` or `_` before `=>`
  LAMBDA_OPEN,      // `(` whose `)` stands before `=>`
  TRAILING_COMMA,   // `,` before a closing bracket
  DECORATOR,        // a transform word that belongs to a following `fn`
  LAMBDA_TRANSFORM, // a transform word directly before a lambda
  ELSE_IF,          // `else` before `if`
  FSTRING_BEGIN, FSTRING_TEXT, HOLE_OPEN, HOLE_FORMAT, HOLE_CLOSE, FSTRING_END
}

program : statements? EOF ;
statements : statement (SEPARATOR statement)* ;

statement
  : LET pattern ASSIGN expression
  | VAR pattern ASSIGN expression
  | (DECORATOR specs?)* function
  | FOR pattern IN expression block
  | WHILE expression block
  | BREAK
  | CONTINUE
  | RETURN expression?
  | IMPORT (NAME | STRING) (AS NAME)?
  | expression ((ASSIGN | OPERATOR_ASSIGN) expression)?
  ;

function : FN NAME LPAREN parameters? RPAREN (ARROW type)? (ASSIGN expression | block) ;
parameters : parameter (COMMA parameter)* TRAILING_COMMA? ;
parameter : (pattern | ARGUMENT_NAME) (COLON type)? (ASSIGN expression)? ;
type : NAME (LBRACKET (size (COMMA size)* TRAILING_COMMA?)? RBRACKET)? ;
size : NAME | INT | STAR | PLACEHOLDER ;
pattern : NAME | PLACEHOLDER | LPAREN pattern (COMMA pattern)* TRAILING_COMMA? RPAREN ;
block : LBRACE statements? RBRACE ;

expression : (lambdaHead FAT_ARROW)* operation ;
lambdaHead : (LAMBDA_TRANSFORM specs?)* (LAMBDA_NAME | LAMBDA_OPEN parameters? RPAREN) ;

operation
  : operand
    ( ( PIPE | DOTDOT | OR | AND | EQUAL | NOT_EQUAL | LESS | LESS_EQUAL | GREATER | GREATER_EQUAL | BAR | CARET
      | AMPERSAND | SHIFT_LEFT | SHIFT_RIGHT | PLUS | MINUS | STAR | SLASH | FLOOR_DIVIDE | PERCENT | AT | POWER )
      operand
    )*
  ;

operand
  : (MINUS | PLUS | TILDE | NOT)*
    ( NAME | INT | FLOAT | TRUE | FALSE | NONE | STRING | RAW_STRING | PLACEHOLDER
    | formatted | parenthesis | array | block | ifElse | transform )
    (call | index | DOT NAME)*
  ;

call : LPAREN arguments? RPAREN ;
arguments : argument (COMMA argument)* TRAILING_COMMA? ;
argument : ARGUMENT_NAME ASSIGN expression | expression ;

index : LBRACKET indexItem (COMMA indexItem)* TRAILING_COMMA? RBRACKET ;
indexItem
  : ELLIPSIS
  | expression (COLON expression? (COLON expression?)?)?
  | COLON expression? (COLON expression?)?
  ;

parenthesis : LPAREN (element (COMMA element)* TRAILING_COMMA?)? RPAREN ;
element : DOTDOT expression | ARGUMENT_NAME ASSIGN expression | expression ;

array
  : LBRACKET
    ( expression ( FOR pattern IN expression (IF expression)? | (COMMA expression)* TRAILING_COMMA? ) )?
    RBRACKET
  ;

ifElse : IF expression block (ELSE_IF IF expression block)* (ELSE block)? ;
transform : (TRANSFORM specs?)+ (NAME | parenthesis) ;
specs : LBRACKET arguments? RBRACKET ;
formatted : FSTRING_BEGIN (FSTRING_TEXT | HOLE_OPEN expression HOLE_FORMAT? HOLE_CLOSE)* FSTRING_END ;

// ---- words ----
LET : 'let' ;
VAR : 'var' ;
FN : 'fn' ;
IF : 'if' ;
ELSE : 'else' ;
FOR : 'for' ;
IN : 'in' ;
WHILE : 'while' ;
BREAK : 'break' ;
CONTINUE : 'continue' ;
RETURN : 'return' ;
AND : 'and' ;
OR : 'or' ;
NOT : 'not' ;
TRUE : 'true' ;
FALSE : 'false' ;
NONE : 'none' ;
IMPORT : 'import' ;
AS : 'as' ;
TRANSFORM : 'jit' | 'vmap' | 'pmap' | 'grad' ;
PLACEHOLDER : '_' ;
// U+0001 stands for every letter outside of ASCII, U+0002 for every other mark and digit (antlr_parser.cpp).
NAME : [A-Za-z_\u0001] [A-Za-z0-9_\u0001\u0002]* ;

// ---- literals (literals.cpp checks their inside) ----
FLOAT : [0-9] [0-9_]* ('.' [0-9] [0-9_]* EXPONENT? | EXPONENT) [0-9A-Za-z_]* ;
INT : [0-9] [0-9A-Za-z_]* ;
fragment EXPONENT : [eE] [+-]? [0-9] ;
STRING : '"' CHARACTER* '"' ;
RAW_STRING : 'r"' ~["\r\n]* '"' ;
FSTRING : 'f"' CHARACTER* '"' ;
fragment CHARACTER : '\\' ~[\r\n] | ~["\\\r\n] ;
OPEN_STRING : ('"' | 'f"') CHARACTER* '\\'? | 'r"' ~["\r\n]* ;
SINGLE_QUOTED : '\'' ('\\' ~[\r\n] | ~['\\\r\n])* '\'' ;

// ---- operators and punctuation ----
PIPE : '|>' ;
FAT_ARROW : '=>' ;
ARROW : '->' ;
ELLIPSIS : '...' ;
DOTDOT : '..' ;
DOT : '.' ;
COMMA : ',' ;
COLON : ':' ;
SEMICOLON : ';' ;
EQUAL : '==' ;
NOT_EQUAL : '!=' ;
LESS : '<' ;
LESS_EQUAL : '<=' ;
GREATER : '>' ;
GREATER_EQUAL : '>=' ;
ASSIGN : '=' ;
OPERATOR_ASSIGN : '+=' | '-=' | '*=' | '/=' | '//=' | '%=' | '@=' | '**=' | '&=' | '|=' | '^=' | '<<=' | '>>=' ;
BAR : '|' ;
CARET : '^' ;
AMPERSAND : '&' ;
SHIFT_LEFT : '<<' ;
SHIFT_RIGHT : '>>' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
SLASH : '/' ;
FLOOR_DIVIDE : '//' ;
PERCENT : '%' ;
AT : '@' ;
POWER : '**' ;
TILDE : '~' ;
LPAREN : '(' ;
RPAREN : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
LBRACE : '{' ;
RBRACE : '}' ;

// ---- not part of the language; the filter answers with the right spelling ----
DOUBLE_AMPERSAND : '&&' ;
DOUBLE_BAR : '||' ;
BANG : '!' ;

// ---- dropped by the filter ----
NEWLINE : '\r'? '\n' | '\r' ;
SPACE : [ \t\f]+ ;
DOC_COMMENT : '##' ~[#\r\n] ~[\r\n]* | '##' ;
COMMENT : '#' ~[\r\n]* ;
UNKNOWN : . ;
